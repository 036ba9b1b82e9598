import { expect, test } from 'vitest';
import { PawlError } from '../../errors.js';
import { isLocked, isRefused, LockWaits, patiently } from './lock-waits.js';
import type { Queries, Session } from './session.js';

const locked = (): PawlError =>
  new PawlError('STORE_UNAVAILABLE', {
    detail: 'canceling statement due to lock timeout',
    cause: Object.assign(new Error(), { code: '55P03' }),
  });

/** A session in whose transactions these keys are held by others, and what was done there. */
function sessionWith(...keys: readonly string[]) {
  const held = new Set(keys);
  const log: string[] = [];
  const ends = new Map<string, (end: 'free' | 'in vain') => void>();
  let timeout = '';
  const db: Pick<Queries, 'rows'> = {
    rows: async (sql) => {
      timeout = sql.includes("'10ms'") ? 'short' : 'long';
      return [];
    },
  };
  const session: Pick<Session, 'careful' | 'waits'> = {
    waits: new LockWaits({ silenceMs: 30_000 }),
    careful: async (work) => work(db as Queries),
  };
  const want = (key: string): Promise<string> =>
    patiently(session, { what: key, names: [key], firstMs: 10 }, async () => {
      const how = timeout;
      log.push(`${key} ${how}`);
      if (held.has(key) && how === 'long') {
        const end = await new Promise((resolve) => ends.set(key, resolve));
        if (end === 'free') held.delete(key);
      }
      if (held.has(key)) throw locked();
      return `${key} saved`;
    });
  const end = (key: string, how: 'free' | 'in vain'): void => ends.get(key)?.(how);
  return { session, log, want, end };
}

const settled = () => new Promise((resolve) => void setImmediate(resolve));

test('whoever finds nothing in the way does not wait, and nobody is ahead of anyone', async () => {
  const { session, log, want } = sessionWith();
  expect(await want('a')).toBe('a saved');
  expect([log, session.waits.isIdle]).toEqual([['a short'], true]);
});

test('GUA-11 of many who want the same one waits, and the others try when it knows', async () => {
  const { session, log, want, end } = sessionWith('a');
  const wanted = [want('a'), want('a')];
  await settled();
  wanted.push(want('a'));
  await settled();
  expect(log).toEqual(['a short', 'a short', 'a long']);
  end('a', 'free');
  expect(await Promise.all(wanted)).toEqual(Array.from({ length: 3 }, () => 'a saved'));
  expect(session.waits.isIdle).toBe(true);
});

test('GUA-11 two wait at once; the next waits when one of them knows', async () => {
  const { log, want, end } = sessionWith('a', 'b', 'c', 'd');
  const wanted = ['a', 'b', 'c', 'd'].map(want);
  await settled();
  const long = () => log.filter((line) => line.endsWith('long'));
  expect(long()).toEqual(['a long', 'b long']);
  end('b', 'free');
  await settled();
  expect(long()).toEqual(['a long', 'b long', 'c long']);
  expect(await want('free')).toBe('free saved');
  for (const key of ['a', 'c']) end(key, 'free');
  await settled();
  end('d', 'free');
  expect(await Promise.all(wanted)).toEqual(['a saved', 'b saved', 'c saved', 'd saved']);
});

test('GUA-11 once one has waited in vain, neither those behind it nor those in line wait on', async () => {
  const { session, log, want, end } = sessionWith('a', 'b', 'c');
  const wanted = ['a', 'b', 'c', 'a', 'c'].map(want);
  const outcomes = Promise.allSettled(wanted);
  await settled();
  end('a', 'in vain');
  await settled();
  end('b', 'free');
  const codes = (await outcomes).map((one) =>
    one.status === 'rejected' ? (one.reason as PawlError).code : one.value,
  );
  expect(codes).toEqual(['STORE_BUSY', 'b saved', 'STORE_BUSY', 'STORE_BUSY', 'STORE_BUSY']);
  expect(log).not.toContain('c long');
  expect(session.waits.isIdle).toBe(true);
});

test('GUA-11 one that fails for another reason fails alone', async () => {
  const { session, want, end } = sessionWith('a');
  const broken = session.waits.begin({ what: 'b', names: ['b'] }, () => Promise.reject(new Error('broken')));
  const behind = want('b');
  await expect(broken).rejects.toThrow('broken');
  expect(await behind).toBe('b saved');
  const waiting = want('a');
  await settled();
  end('a', 'free');
  expect(await waiting).toBe('a saved');
});

const saidBy = (code: string): Error =>
  new Error('no', { cause: Object.assign(new Error('canceling statement'), { code }) });

test.each([
  { code: '55P03', isOurs: true, isTheirs: true },
  // Got in the very moment in which the wait was over; but on a connection of theirs there may be other reasons.
  { code: '57014', isOurs: true, isTheirs: false },
  { code: '40001', isOurs: false, isTheirs: false },
])('GUA-11 which wait was in vain: $code', ({ code, isOurs, isTheirs }) => {
  expect([isLocked(saidBy(code)), isRefused(saidBy(code))]).toEqual([isOurs, isTheirs]);
});
