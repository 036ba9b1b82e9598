import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { prng, randomHistory } from '../testkit/index.js';
import {
  chainLink,
  CHAIN_START,
  encodeEvents,
  erasePayloads,
  findBrokenLink,
  type ChainedRow,
  type ChainHead,
} from './index.js';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

function chainOf(seed: number): (ChainedRow & { link: string })[] {
  let link = CHAIN_START;
  return randomHistory(prng(seed), { commands: 40 }).commits.map(({ jobId, rev, events }) => {
    const row = { jobId, rev, commandId: rev % 2 ? `command-${rev}` : null, body: encodeEvents(events) };
    link = chainLink(sha256, link, row);
    return { ...row, link };
  });
}

const headOf = (rows: readonly (ChainedRow & { link: string })[]): ChainHead => {
  const last = rows.at(-1);
  if (!last) throw new Error('no rows');
  return { rev: last.rev, link: last.link };
};

describe('GUA-14 the hash chain', () => {
  test('GUA-14 an untouched chain holds', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const rows = chainOf(seed);
        expect(findBrokenLink(sha256, rows, headOf(rows))).toBeNull();
      }),
      { numRuns: 50 },
    );
  });

  test('GUA-14 any change to any row breaks it at that row', () => {
    const tampers: ((row: ChainedRow) => Partial<ChainedRow>)[] = [
      ({ body }) => ({ body: `${body} ` }),
      ({ body }) => ({ body: body.replace('"at":1', '"at":2') }),
      ({ commandId }) => ({ commandId: `${commandId}x` }),
      ({ jobId }) => ({ jobId: `${jobId}x` }),
    ];
    fc.assert(
      fc.property(fc.integer(), fc.nat(), fc.nat(), (seed, at, how) => {
        const rows = chainOf(seed);
        const index = at % rows.length;
        const row = rows[index];
        const tamper = tampers[how % tampers.length];
        if (!row || !tamper) throw new Error('no such row');
        const changed = { ...row, ...tamper(row) };
        fc.pre(JSON.stringify(changed) !== JSON.stringify(row));
        expect(findBrokenLink(sha256, rows.with(index, changed), headOf(rows))).toEqual({
          rev: row.rev,
          problem: 'altered',
        });
      }),
    );
  });

  test('GUA-14 a row that was taken out, put in or moved is noticed', () => {
    const rows = chainOf(7);
    expect(rows.length).toBeGreaterThan(3);
    expect(findBrokenLink(sha256, rows.toSpliced(1, 1), headOf(rows))).toEqual({
      rev: 2,
      problem: 'missing',
    });
    expect(findBrokenLink(sha256, rows.slice(1), headOf(rows))).toEqual({ rev: 1, problem: 'missing' });
    expect(findBrokenLink(sha256, rows.slice(0, -1), headOf(rows))).toEqual({
      rev: rows.length,
      problem: 'missing',
    });
    expect(findBrokenLink(sha256, [], headOf(rows))).toEqual({ rev: 1, problem: 'missing' });
    const longer = { rev: rows.length - 1, link: rows.at(-2)?.link ?? '' };
    expect(findBrokenLink(sha256, rows, longer)).toEqual({ rev: rows.length, problem: 'altered' });
    const swapped = rows.map(
      (row, i) => ({ ...(i === 1 ? rows[2] : i === 2 ? rows[1] : row), rev: i + 1 }) as (typeof rows)[0],
    );
    expect(findBrokenLink(sha256, swapped, headOf(rows))).toEqual({ rev: 2, problem: 'altered' });
  });

  test('GUA-14 a row that was rewritten together with its own link is betrayed by the next one', () => {
    const rows = chainOf(7);
    const [first, second] = rows;
    if (!first || !second) throw new Error('two rows');
    const forged = { ...second, commandId: 'forged' };
    const relinked = { ...forged, link: chainLink(sha256, first.link, forged) };
    expect(findBrokenLink(sha256, rows.with(1, relinked), headOf(rows))).toEqual({
      rev: 3,
      problem: 'altered',
    });
  });

  test('GUA-14 two rows never cover the same text, however their names are cut', () => {
    const body = '{"v":2,"events":[]}';
    const rows: ChainedRow[] = [
      { jobId: 'a', rev: 1, commandId: 'b 1:c', body },
      { jobId: 'a 5:b', rev: 1, commandId: 'c', body },
      { jobId: 'a', rev: 1, commandId: 'b', body: ` 1:c\n${body}` },
      { jobId: 'a', rev: 1, commandId: `b\n${body}`, body: '' },
      { jobId: 'a', rev: 1, commandId: '-', body },
      { jobId: 'a', rev: 1, commandId: '', body },
      { jobId: 'a', rev: 1, commandId: null, body },
      { jobId: 'a', rev: 11, commandId: null, body },
    ];
    expect(new Set(rows.map((row) => chainLink(sha256, CHAIN_START, row))).size).toBe(rows.length);
  });

  test('GUA-14 each of several payloads is covered', () => {
    const linkOf = (body: string) =>
      chainLink(sha256, CHAIN_START, { jobId: 'a', rev: 1, commandId: 'b', body });
    const link = linkOf('{}\n1\n2');
    for (const body of ['{}\n1\n3', '{}\n3\n2', '{}\n2\n1', '{}\n1', '{}\n1\n2\n', '{}\n12'])
      expect(linkOf(body)).not.toBe(link);
    expect(linkOf(erasePayloads(sha256, '{}\n1\n2'))).toBe(link);
  });

  test('GUA-14 erased payloads leave the chain whole, and erasing twice changes nothing', () => {
    const rows = chainOf(3);
    const erased = rows.map((row) => ({ ...row, body: erasePayloads(sha256, row.body) }));
    expect(erased.some(({ body }, i) => body !== rows[i]?.body)).toBe(true);
    expect(erased.every(({ body }) => !body.includes('{"id":1}'))).toBe(true);
    expect(findBrokenLink(sha256, erased, headOf(rows))).toBeNull();
    expect(erased.map(({ body }) => erasePayloads(sha256, body))).toEqual(erased.map(({ body }) => body));
  });
});
