import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { effect } from '../../client/effect.js';
import { task } from '../../client/task.js';
import type { Store } from '../../ports/store.js';
import { testApp, type TestApp } from '../../testkit/index.js';
import type { EvidenceRecord } from './evidence-record.js';
import { EvidenceExport } from './export-evidence.js';
import { SEAL_START, sealed } from './seal.js';
import { verifyEvidence } from './verify-evidence.js';

const charge = effect({
  name: 'charge',
  run: ({ cents }: { cents: number }) => ({ id: `ch_${cents}`, naïve: '✓' }),
});
let tries = 0;
const order = task({ name: 'order' }, async ({ step }) => {
  await step.run('quote', () => ({ cents: 700 }));
  const paid = await step.effect('charge', charge, { cents: 700 });
  if (tries++ === 0) throw new Error('once');
  const approved = await step.waitFor('approval', { timeout: '1h' });
  await step.sleep('cool-off', '10m');
  return { paid, approved };
});
const broken = task({ name: 'broken', retry: { maxRetries: 1 } }, () => {
  throw new Error('always');
});

let rig: TestApp;
let store: Store;
let jobIds: readonly string[];
let file: Buffer;
let head: string;

/** A job that did everything, one that failed, and one that nobody has begun. */
beforeAll(async () => {
  rig = await testApp({ tasks: [order, broken] });
  store = rig.store;
  const paid = (await rig.app.start(order, { for: 'ann\n' })).job;
  await paid.signal('approval', { ok: true });
  await paid.signal('nobody-asked', { kept: 'all the same' });
  const failed = (await rig.app.start(broken, null)).job;
  const later = (await rig.app.start(order, null, { delay: '30d' })).job;
  for (const job of [paid, failed]) await rig.ended(job);
  jobIds = [paid.id, failed.id, later.id];
  const evidence = new EvidenceExport(store, jobIds);
  file = Buffer.from(await textOf(evidence));
  head = evidence.head ?? '';
});
afterAll(() => rig.stop());

async function textOf(lines: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const line of lines) text += line;
  return text;
}

/** All of them take a while; every seventh reaches every line, and every part of it. */
const FLIP_EVERY = 7;

const verify = (bytes: Buffer | string, options: { head?: string } = {}) => verifyEvidence([bytes], options);

describe('GUA-14 a file of evidence', () => {
  test('GUA-14 holds as it was written, whatever pieces it is read in, and says what it saw', async () => {
    const whole = await verify(file, { head });
    expect(whole).toMatchObject({ holds: true, problem: null, jobs: 3, head });
    expect(whole.events).toBeGreaterThan(whole.commits);
    for (const size of [1, 7, 4_096]) {
      const pieces = Array.from({ length: Math.ceil(file.length / size) }, (_, i) =>
        file.subarray(i * size, (i + 1) * size),
      );
      expect(await verifyEvidence(pieces)).toEqual(whole);
    }
  });

  test('GUA-14 the same jobs give the same bytes, and every kind of line is there', async () => {
    expect(Buffer.from(await textOf(new EvidenceExport(store, jobIds)))).toEqual(file);
    const kinds = recordsOf(file).map(({ kind }) => kind);
    expect(new Set(kinds)).toEqual(
      new Set(['evidence', 'job', 'log', 'effect', 'message', 'deadLetter', 'row', 'end']),
    );
  });

  test('GUA-14 a bit that is flipped anywhere is noticed, and its line named', async () => {
    const lines = lineStarts(file);
    for (let at = 0; at < file.length; at += FLIP_EVERY) {
      const bytes = Buffer.from(file);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << (at % 8));
      const { holds, line } = await verify(bytes);
      expect(holds, `byte ${at}`).toBe(false);
      expect(line, `byte ${at}`).toBe(lines.findLastIndex((start) => start <= at) + 1);
    }
  });

  test('GUA-14 bytes and lines that are deleted, inserted, repeated or moved are noticed, and the first bad line is named', async () => {
    const spot = fc.nat(file.length - 1);
    const length = fc.integer({ min: 1, max: 2_000 });
    const extra = fc.uint8Array({ minLength: 1, maxLength: 40 });
    const tampered = fc.oneof(
      fc.tuple(spot, length).map(([at, n]) => Buffer.concat([file.subarray(0, at), file.subarray(at + n)])),
      fc.tuple(spot, extra).map(([at, n]) => Buffer.concat([file.subarray(0, at), n, file.subarray(at)])),
      fc.tuple(spot, spot).map(([from, to]) => withLineMoved(from, to)),
      fc.tuple(spot, spot).map(([from, to]) => withLineRepeated(from, to)),
    );
    await fc.assert(
      fc.asyncProperty(tampered, async (bytes) => {
        fc.pre(!bytes.equals(file));
        const { holds, problem, line } = await verify(bytes);
        expect(holds).toBe(false);
        expect(problem).toMatch(new RegExp(`^Line ${line} .+\\.$`));
        const changed = firstDifference(bytes);
        expect(line).toBe(lineStarts(file).findLastIndex((start) => start <= changed) + 1);
      }),
      { numRuns: 400 },
    );
  });

  test('GUA-14 bytes after its end are noticed', async () => {
    for (const extra of ['x', '\n', '{}\n', file]) {
      const { holds } = await verify(Buffer.concat([file, Buffer.from(extra)]));
      expect(holds).toBe(false);
    }
    expect(await verify('')).toMatchObject({
      holds: false,
      problem: expect.stringContaining('Line 1 is missing'),
    });
  });
});

describe('GUA-14 a forger who seals anew', () => {
  const forged = async (change: (records: EvidenceRecord[]) => void) => {
    const records = recordsOf(file);
    change(records);
    return verify(resealed(records));
  };
  const find = <K extends EvidenceRecord['kind']>(records: EvidenceRecord[], kind: K) =>
    records.find((record) => record.kind === kind) as Mutable<Extract<EvidenceRecord, { kind: K }>>;

  test('GUA-14 what is sealed again without a change holds', async () => {
    expect((await forged(() => undefined)).holds).toBe(true);
  });

  test('GUA-14 is caught by the hash chain when the log is changed', async () => {
    for (const [change, says] of [
      [(log) => (log.body = log.body.replace('ann', 'eve')), 'does not fit its link'],
      [(log) => (log.commandId += 'x'), 'does not fit its link'],
      [(log) => (log.rev = 2), 'revision 1 is missing'],
      [(log) => (log.link = 'f'.repeat(64)), 'does not fit its link'],
    ] as [(log: Mutable<Extract<EvidenceRecord, { kind: 'log' }>>) => void, string][]) {
      const { holds, problem } = await forged((records) => change(find(records, 'log')));
      expect(holds).toBe(false);
      expect(problem).toContain(`job ${jobIds[0]}`);
      expect(problem).toContain(says);
    }
    const missing = await forged((records) => records.splice(4, 1));
    expect(missing.problem).toMatch(/Line 5 .*revision 3 is missing; revision 4/);
    const swapped = await forged((records) => records.splice(4, 2, ...records.slice(4, 6).toReversed()));
    expect(swapped.problem).toMatch(/Line 5 .*revision 3 is missing/);
    const cut = await forged((records) => {
      const last = records.findIndex(({ kind }, at) => kind === 'log' && records[at + 1]?.kind !== 'log');
      records.splice(last, 1);
    });
    expect(cut.problem).toMatch(/differs|does not have/);
  });

  test('GUA-14 is caught by the events when the ledger, the row or the dead-letter item is changed', async () => {
    const cases: [(records: EvidenceRecord[]) => void, string][] = [
      [(all) => (find(all, 'effect').result = '{"id":"ch_0"}'), 'is not the one that the log records'],
      [(all) => (find(all, 'effect').entry = 2), 'which no event intended'],
      [(all) => (find(all, 'effect').result = null), 'that the ledger does not have'],
      [
        (all) =>
          all.splice(
            all.findIndex(({ kind }) => kind === 'effect'),
            1,
          ),
        'that the ledger does not have',
      ],
      [(all) => Object.assign(find(all, 'row').row, { status: 'cancelled' }), 'status differs'],
      [(all) => Object.assign(find(all, 'row').row, { extra: 1 }), 'extra differs'],
      [(all) => Object.assign(find(all, 'deadLetter').item, { errorCode: 'OTHER' }), 'errorCode differs'],
      [
        (all) =>
          all.splice(
            all.findIndex(({ kind }) => kind === 'deadLetter'),
            1,
          ),
        'item is missing',
      ],
      [(all) => (find(all, 'end').jobs = 2), 'it counts 2 jobs, and there are 3'],
      [(all) => (find(all, 'evidence').format = 2), 'format 2 is not known here'],
      [(all) => (find(all, 'job').jobId = jobIds[1] ?? ''), 'does not fit its link'],
      [(all) => all.splice(1, 1), "is out of place: 'log' after 'evidence'"],
      [(all) => Object.assign(find(all, 'log'), { rev: 'one' }), 'is no line of evidence'],
    ];
    for (const [change, says] of cases) {
      const { holds, problem } = await forged(change);
      expect(problem).toContain(says);
      expect(holds).toBe(false);
    }
  });

  test('GUA-14 passes with what nothing else speaks of, unless the head was kept', async () => {
    const records = recordsOf(file);
    find(records, 'message').payload = '"forged"';
    expect((await verify(resealed(records))).holds).toBe(true);
    const { holds, problem } = await verify(resealed(records), { head });
    expect(holds).toBe(false);
    expect(problem).toContain(`not the one of head ${head}`);
  });
});

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

function recordsOf(bytes: Buffer): EvidenceRecord[] {
  const lines = bytes.toString().split('\n').slice(0, -1);
  return lines.map((line) => {
    const { seal: _seal, ...record } = JSON.parse(line) as EvidenceRecord & { seal: string };
    return record;
  });
}

function resealed(records: readonly EvidenceRecord[]): string {
  let previous = SEAL_START;
  return records
    .map((record) => {
      const { seal, line } = sealed(record, previous);
      previous = seal;
      return line;
    })
    .join('');
}

/** Where each line begins; the last is where another would. */
function lineStarts(bytes: Buffer): number[] {
  return [0, ...[...bytes].flatMap((byte, at) => (byte === 10 ? [at + 1] : []))];
}

function firstDifference(bytes: Buffer): number {
  let at = 0;
  while (at < bytes.length && bytes[at] === file[at]) at += 1;
  return at;
}

const linesOf = () => file.toString('latin1').split('\n').slice(0, -1);

function withLineMoved(from: number, to: number): Buffer {
  const lines = linesOf();
  const [line = ''] = lines.splice(from % lines.length, 1);
  return Buffer.from(`${lines.toSpliced(to % (lines.length + 1), 0, line).join('\n')}\n`, 'latin1');
}

function withLineRepeated(from: number, to: number): Buffer {
  const lines = linesOf();
  const line = lines[from % lines.length] ?? '';
  return Buffer.from(`${lines.toSpliced(to % lines.length, 0, line).join('\n')}\n`, 'latin1');
}
