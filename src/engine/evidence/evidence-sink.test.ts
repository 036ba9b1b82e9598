import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { effect } from '../../client/effect.js';
import { verifyEvidenceFile } from '../../client/evidence.js';
import { retentionOf, type RetentionOptions } from '../../client/retention-options.js';
import { task } from '../../client/task.js';
import type { Store } from '../../ports/store.js';
import { memoryStore } from '../../stores/memory/memory-store.js';
import { advanceUntil, fakeClock, T0, testApp, type TestApp } from '../../testkit/index.js';
import type { JobEvidence } from './evidence-sink.js';

const root = mkdtempSync(join(tmpdir(), 'pawl-retention-'));
afterAll(() => rmSync(root, { recursive: true }));
let folders = 0;
const newFolder = (): string => join(root, `${folders++}`, 'not', 'there', 'yet');

const charge = effect({ name: 'charge', run: (cents: number) => `ch_${cents}` });
const order = task({ name: 'order' }, ({ step }) => step.effect('charge', charge, 7));

type Setup = {
  readonly jobs?: number;
  readonly evidence?: RetentionOptions['evidence'];
  /** How the application sees the store. */
  readonly via?: (store: Store) => Store;
};

/** An application with finished jobs, whose time is not up yet. */
async function withEnded({
  jobs = 1,
  evidence,
  via = (store) => store,
}: Setup): Promise<TestApp & { jobIds: string[]; complaints: unknown[] }> {
  const complaints: unknown[] = [];
  const none = () => undefined;
  const error = (_message: string, facts?: object) => complaints.push(facts);
  const clock = fakeClock(T0);
  const sink = evidence === undefined ? undefined : retentionOf({ keep: 0, evidence }).evidence;
  const rig = await testApp({
    tasks: [order],
    // A disk takes its time, and the clock is not to run on meanwhile.
    retention: { keep: '1d', ...(sink ? { evidence: (one) => clock.during(() => sink(one)) } : {}) },
    log: { debug: none, info: none, warn: none, error },
    clock,
    store: via(memoryStore({ clock })),
  });
  onTestFinished(() => rig.stop());
  const jobIds: string[] = [];
  for (let n = 0; n < jobs; n++) {
    const { job } = await rig.app.start(order, n);
    await rig.ended(job);
    jobIds.push(job.id);
  }
  return { ...rig, jobIds, complaints };
}

const isGone = async ({ store }: TestApp, jobId: string) => (await store.load(jobId)).found === null;
const allGone = (rig: TestApp, jobIds: readonly string[]) =>
  advanceUntil(
    rig.clock,
    async () => (await Promise.all(jobIds.map((id) => isGone(rig, id)))).every(Boolean),
    {
      atMost: '3d',
    },
  );
const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl'));

describe('GUA-14 evidence before a job is deleted', () => {
  test('GUA-14 a file for each job, which holds when the job is gone', async () => {
    const folder = newFolder();
    const rig = await withEnded({ jobs: 3, evidence: folder });
    await allGone(rig, rig.jobIds);
    const files = filesIn(folder);
    expect(files).toHaveLength(3);
    for (const jobId of rig.jobIds) {
      const name = files.find((file) => file.includes(jobId)) ?? '';
      expect(name).toMatch(/^2026-02-25\/[0-9A-Z]{26}-[0-9a-f]{16}\.jsonl$/);
      const verdict = await verifyEvidenceFile(join(folder, name));
      expect(verdict).toMatchObject({ holds: true, jobs: 1 });
      expect(name).toContain(`-${verdict.head?.slice(0, 16)}.`);
      expect(readFileSync(join(folder, name), 'utf8')).toContain('ch_7');
    }
    expect(rig.complaints).toEqual([]);
  });

  test('GUA-14 a sink that throws, or does not read to the end, keeps the job and says so; others go', async () => {
    const seen: string[] = [];
    let mended = false;
    const [bad, lazy, good] = [0, 1, 2];
    const evidence = async ({ jobId, lines }: JobEvidence) => {
      seen.push(jobId);
      if (!mended && jobId === rig.jobIds[bad]) throw new Error('no room');
      if (!mended && jobId === rig.jobIds[lazy]) return;
      for await (const line of lines) expect(line).toContain('"seal"');
    };
    const rig = await withEnded({ jobs: 3, evidence });
    await allGone(rig, [rig.jobIds[good] ?? '']);
    expect(rig.complaints[0]).toMatchObject({
      jobs: 2,
      jobId: rig.jobIds[bad],
      error: { message: 'no room' },
    });
    expect(await isGone(rig, rig.jobIds[bad] ?? '')).toBe(false);
    expect(await isGone(rig, rig.jobIds[lazy] ?? '')).toBe(false);
    mended = true;
    await allGone(rig, rig.jobIds);
    expect(seen.filter((jobId) => jobId === rig.jobIds[bad]).length).toBeGreaterThan(1);
  });

  test('GUA-14 a result that comes between the export and the purge keeps the job, and is exported', async () => {
    const folder = newFolder();
    let late = true;
    const rig = await withEnded({
      evidence: folder,
      via: (store) => ({
        ...store,
        async purge(asked) {
          const [job] = asked.jobs;
          if (late && job) {
            late = false;
            const { jobId } = job;
            await store.putEffect({ jobId, step: 'charge', occurrence: 1, entry: 2, result: '"late"' });
          }
          return store.purge(asked);
        },
      }),
    });
    await allGone(rig, rig.jobIds);
    expect(filesIn(folder)).toHaveLength(2);
    const last = filesIn(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
    expect(last.filter((text) => text.includes('\\"late\\"'))).toHaveLength(1);
  });

  test('GUA-14 a crash between the export and the purge: exported again, the same bytes in the same place', async () => {
    const folder = newFolder();
    let crashes = 0;
    const rig = await withEnded({
      evidence: folder,
      via: (store) => ({
        ...store,
        purge: (asked) =>
          asked.jobs.length > 0 && crashes++ === 0
            ? Promise.reject(new Error('the process is gone'))
            : store.purge(asked),
      }),
    });
    const [jobId = ''] = rig.jobIds;
    await advanceUntil(rig.clock, () => crashes === 1, { atMost: '3d' });
    expect(await isGone(rig, jobId)).toBe(false);
    const [name = ''] = filesIn(folder);
    const first = readFileSync(join(folder, name), 'utf8');
    writeFileSync(join(folder, name), 'half of it');
    await allGone(rig, [jobId]);
    expect(filesIn(folder)).toEqual([name]);
    expect(readFileSync(join(folder, name), 'utf8')).toBe(first);
  });

  test('GUA-14 a job that another process deletes while it is read leaves no file, and is no failure', async () => {
    const folder = newFolder();
    const rig = await withEnded({
      evidence: folder,
      via: (store) => ({
        ...store,
        async inbox(jobId) {
          // The log has been read; the rest goes from under the reader.
          await store.purge({ jobs: [{ jobId, guard: null }], identityTtlMs: 0 });
          return store.inbox(jobId);
        },
      }),
    });
    await allGone(rig, rig.jobIds);
    await rig.idle();
    expect(readdirSync(join(folder, '2026-02-25'))).toEqual([]);
    expect(rig.complaints).toEqual([]);
  });

  test('INVALID_OPTION for what is neither a folder nor a function', async () => {
    for (const evidence of ['', 7 as unknown as string]) {
      await expect(testApp({ retention: { keep: '1d', evidence } })).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        details: { option: 'retention.evidence' },
      });
    }
  });

  test('without it nothing is read but the page of old jobs', async () => {
    let reads = 0;
    const rig = await withEnded({
      jobs: 2,
      via: (store) => ({ ...store, log: (...asked) => ((reads += 1), store.log(...asked)) }),
    });
    const before = reads;
    await allGone(rig, rig.jobIds);
    expect(reads).toBe(before);
  });
});
