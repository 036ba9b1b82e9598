import { expect, test } from 'vitest';
import { cannotTell, effect, happened, noEffect, notHappened, task } from '../../src/index.js';
import type { HandlerContext } from '../../src/index.js';
import { advanceUntil } from '../../src/testkit/index.js';
import { openApp } from './open-app.js';

type Mail = { to: string; text: string };
type Sent = { id: string; key: string };

/** Somebody else's mail service: what goes wrong, and when, is up to the test. */
const mails = {
  sent: [] as Sent[],
  trouble: [] as ('refused' | 'answer lost' | 'request lost')[],
  searches: 0,
  async send(_mail: Mail, { idempotencyKey }: { idempotencyKey: string }): Promise<Sent> {
    const trouble = mails.trouble.shift();
    if (trouble === 'refused') throw Object.assign(new Error('no connection'), { code: 'ECONNREFUSED' });
    if (trouble === 'request lost') throw new Error('socket hang up');
    const sent = { id: `mail-${mails.sent.length + 1}`, key: idempotencyKey };
    mails.sent.push(sent);
    if (trouble === 'answer lost') throw new Error('socket hang up');
    return sent;
  },
  async search(key: string): Promise<Sent | 'unreachable' | null> {
    mails.searches += 1;
    return mails.sent.find((one) => one.key === key) ?? null;
  },
};

const isRefused = (error: unknown): boolean => (error as { code?: string }).code === 'ECONNREFUSED';

const send = effect({
  name: 'mail.send',
  timeout: '10s',
  run: async (mail: Mail, { idempotencyKey }) => {
    try {
      return await mails.send(mail, { idempotencyKey });
    } catch (error) {
      if (isRefused(error)) throw noEffect(error); // Nothing left this machine: it may be entered again.
      throw error; // Anything else: nobody knows.
    }
  },
  reconcile: async (_mail, { idempotencyKey }) => {
    const found = await mails.search(idempotencyKey);
    if (found === 'unreachable') return cannotTell();
    return found ? happened(found) : notHappened();
  },
});

const welcome = task({ name: 'welcome' }, async ({ input, step }: HandlerContext<{ to: string }>) => {
  const { id } = await step.effect('mail', send, { to: input.to, text: 'Welcome!' });
  return id;
});

async function outcomeOf(...trouble: typeof mails.trouble): Promise<{ result: string; attempt: number }> {
  Object.assign(mails, { sent: [], trouble, searches: 0 });
  const { app, clock } = await openApp([welcome], { work: { lease: '1h' } });
  const { job } = await app.start(welcome, { to: 'ada' });
  const result = await advanceUntil(clock, job.result());
  return { result, attempt: (await job.status()).retryCount + 1 };
}

test('all is well: one entry, and nobody is asked', async () => {
  expect(await outcomeOf()).toEqual({ result: 'mail-1', attempt: 1 });
  expect(mails.searches).toBe(0);
});

test('the answer got lost: reconcile finds the mail, and it is not sent again', async () => {
  expect(await outcomeOf('answer lost')).toEqual({ result: 'mail-1', attempt: 1 });
  expect(mails).toMatchObject({ sent: [{ id: 'mail-1' }], searches: 1 });
});

test('the request got lost: reconcile finds nothing, and the mail is sent by the next attempt', async () => {
  expect(await outcomeOf('request lost')).toEqual({ result: 'mail-1', attempt: 2 });
  expect(mails).toMatchObject({ sent: [{ id: 'mail-1' }], searches: 1 });
});

test('known not to have happened: the next attempt enters it again, and nobody is asked', async () => {
  expect(await outcomeOf('refused')).toEqual({ result: 'mail-1', attempt: 2 });
  expect(mails.searches).toBe(0);
});

test('nobody can tell: the job waits for a person', async () => {
  const fax = effect({
    name: 'fax.send',
    run: async (_text: string): Promise<{ pages: number }> => Promise.reject(new Error('the line went dead')),
  });
  const notice = task({ name: 'notice' }, ({ step }) => step.effect('fax', fax, 'Dear Sir'));
  const { app, clock } = await openApp([notice]);
  const { job } = await app.start(notice, null);
  await advanceUntil(clock, async () => (await job.status()).status === 'waiting');

  const { sentence } = await job.why();
  await app.resolveEffect(job.id, { step: 'fax', by: 'ada', verdict: 'happened', result: { pages: 1 } });

  expect(sentence).toBe("Nobody knows whether effect 'fax#1' happened: an operator must decide.");
  expect(await advanceUntil(clock, job.result())).toEqual({ pages: 1 });
});
