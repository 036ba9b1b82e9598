import { describe, expect, onTestFinished, test } from 'vitest';
import { task, type AnyTask } from '../../src/client/task.js';
import { keyOf } from '../../src/engine/alerts/alert-records.js';
import type { Store, StoredRecord } from '../../src/ports/store.js';
import { Hits } from '../../src/sim/hits.js';
import { Verdict } from '../../src/sim/verdict.js';
import { testApp, type TestApp } from '../../src/testkit/index.js';
import { checkAcknowledged } from './check-acknowledged.js';
import { checkLate } from './check-late.js';
import { checkOutside } from './check-outside.js';
import { checkStruck, type Struck } from './check-struck.js';
import { checkLeases, checkWhole } from './check-whole.js';
import { RATE, SCHEDULE } from './limits.js';
import type { Acknowledged } from './load.js';
import type { Moment, Sight } from './outside.js';
import { readJobs, type EffectUse, type ReadJobs } from './read-jobs.js';

const newVerdict = () => new Verdict({ decisions: () => 0, onBreach: () => undefined });
const found = ({ breaches }: Verdict) => breaches.map(({ invariant }) => invariant);

async function appOf(...tasks: AnyTask[]): Promise<TestApp> {
  const rig = await testApp({ tasks });
  onTestFinished(() => rig.stop());
  return rig;
}

describe('the outside, held against the log', () => {
  const ref = { jobId: 'job', step: 'charge', occurrence: 1 };
  const use: EffectUse = { ...ref, intents: 1, entry: 1, refused: 0, denied: 0, results: ['"1-1"'] };
  const happened: Sight = { saw: 'happened', pid: 1, result: '1-1' };
  const sight = (saw: Exclude<Sight['saw'], 'happened'>): Sight => ({ saw, pid: 1 });
  const check = (logged: Partial<EffectUse>, sights: readonly Sight[]) => {
    const verdict = newVerdict();
    const outside = { of: () => [...sights], keys: () => ['key'] };
    checkOutside(new Map([['key', { ...use, ...logged }]]), outside, verdict);
    return found(verdict);
  };

  test('what was entered once, and happened, is as it should be', () => {
    expect(check({}, [sight('entered'), happened])).toEqual([]);
    const again = [sight('entered'), sight('denied'), sight('entered'), happened, happened];
    expect(check({ intents: 2, denied: 1 }, again)).toEqual([]);
  });

  test('invariant 8: an entry without an intent of its own, and one that was closed on nobody’s word', () => {
    expect(check({}, [sight('entered'), happened, sight('entered')])).toEqual([8]);
    expect(check({ refused: 1, intents: 2 }, [sight('entered'), happened])).toEqual([8]);
    expect(check({ denied: 1, intents: 2 }, [sight('entered'), happened])).toEqual([8]);
    expect(check({ intents: 2 }, [sight('entered'), happened, sight('entered'), happened])).toEqual([8]);
  });

  test('GUA-4 invariant 8: one denial closes one entry, however often it was given', () => {
    const twice = [sight('entered'), sight('denied'), sight('entered'), happened, sight('entered'), happened];
    expect(check({ intents: 3, denied: 2 }, twice)).toEqual([8]);
    expect(check({ intents: 3, denied: 2 }, [...twice, sight('denied')])).toEqual([]);
    // Said twice, and declared once: only one entry more may be followed.
    const thrice = [sight('entered'), sight('denied'), sight('denied'), sight('entered')];
    expect(check({ intents: 2, denied: 1 }, [...thrice, happened, happened, happened])).toEqual([8]);
  });

  test('invariant 8: a body that no log knows of', () => {
    const verdict = newVerdict();
    const outside = { of: () => [sight('entered'), happened], keys: () => ['key', 'unheard of'] };
    checkOutside(new Map([['key', use]]), outside, verdict);
    expect(found(verdict)).toEqual([8]);
  });

  test('GUA-4 invariant 8: a late result that nobody was told of, unless whoever brought it was gone', async () => {
    const stored = { ...ref, entry: 1, result: '"7-1000"' };
    const late = async ({ raised = false, entry = 2, ends = [] as Moment[] }) => {
      const verdict = newVerdict();
      const id = `${keyOf({ rule: 'effect_late_result', subject: ['job', 'charge', 1, 1] })}#00000001`;
      const record: StoredRecord = { kind: 'alert', tenantId: 'default', id, version: 1, body: '{}' };
      const store: Pick<Store, 'effects' | 'records'> = {
        effects: async () => ({ now: 0, results: [stored] }),
        records: async () => ({ now: 0, records: raised ? [record] : [] }),
      };
      await checkLate({ effects: new Map([['key', { ...use, intents: 2, entry }]]), ends, store, verdict });
      return found(verdict);
    };
    expect(await late({})).toEqual([8]);
    expect(await late({ raised: true })).toEqual([]);
    expect(await late({ entry: 1 })).toEqual([]);
    expect(await late({ ends: [{ pid: 7, atNs: 2_000n }] })).toEqual([]);
    expect(await late({ ends: [{ pid: 8, atNs: 2_000n }] })).toEqual([8]);
    expect(await late({ ends: [{ pid: 7, atNs: 500n }] })).toEqual([8]);
    expect(await late({ ends: [{ pid: 7, atNs: 60_000_000_000n }] })).toEqual([8]);
  });

  test('invariant 7: a record of what did not happen', () => {
    expect(check({ results: ['"2-2"'] }, [sight('entered'), happened])).toEqual([7]);
  });
});

describe('what was done', () => {
  const harm = { kills: 10, freezes: 2, restarts: 1 };
  const done = {
    'SIGKILL of a worker': 8,
    'SIGKILL of the server': 2,
    'SIGSTOP for less than a lease': 2,
    'crash of the database': 1,
  };
  const few = { harm, done, starts: 20, hits: {}, full: 0 };
  const check = (change: Partial<Struck>) => {
    const verdict = newVerdict();
    checkStruck({ ...few, ...change }, verdict);
    return verdict.breaches.map(({ invariant, problem }) => `${invariant}: ${problem}`);
  };

  test('invariant 28: all that was planned was done, of each kind', () => {
    expect(check({})).toEqual([]);
    expect(check({ done: { ...done, 'SIGKILL of a worker': 7 } })).toEqual(['28: 9 kills were made, not 10']);
    expect(check({ done: { ...done, 'SIGSTOP for less than a lease': 0 } })).toEqual([
      '28: 0 freezes were made, not 2',
    ]);
    expect(check({ done: { ...done, 'crash of the database': 0 } })).toEqual([
      '28: 0 restarts of the database were made, not 1',
    ]);
  });

  test('invariant 28: what a run of its length cannot miss by chance is in its logs', () => {
    const many = { starts: 500 };
    const missed = check(many);
    expect(missed).toContain('28: command reconcile-effect was never met');
    expect(missed).toContain('28: a key used to the full was never met');
    expect(missed).not.toContain('28: command resolve-effect was never met');
    expect(check({ ...many, starts: 5_000 })).toContain('28: command resolve-effect was never met');
    expect(check({ ...many, hits: { 'command reconcile-effect': 1 } })).not.toContain(
      '28: command reconcile-effect was never met',
    );
  });
});

describe('what clients were told', () => {
  test('invariants 1 and 10: starts, signals, cancels and requeues that are not in the log', async () => {
    const plain = task({ name: 'plain' }, () => 'done');
    const rig = await appOf(plain);
    const { job } = await rig.app.start(plain, { n: 1 }, { idempotencyKey: 'k' });
    await rig.ended(job);
    const { store } = rig;
    const jobs = await readJobs(store, { hits: new Hits(), verdict: newVerdict() });
    const told: Acknowledged = {
      starts: new Map([['k', { jobId: job.id, task: 'plain', input: '{"n":1}' }]]),
      signals: [],
      cancels: new Set(),
      requeues: new Map(),
      breaches: [],
    };
    const check = async (more: Partial<Acknowledged>) => {
      const verdict = newVerdict();
      await checkAcknowledged({ ...told, ...more }, { store, jobs, verdict });
      return found(verdict);
    };
    expect(await check({})).toEqual([]);
    const lost = { jobId: 'lost', task: 'plain', input: '{"n":1}' };
    expect(await check({ starts: new Map([['k', lost]]) })).toEqual([1]);
    const other = { jobId: job.id, task: 'plain', input: '{"n":2}' };
    expect(await check({ starts: new Map([['k', other]]) })).toEqual([10]);
    expect(await check({ signals: [{ jobId: job.id, key: 'go', payload: '1' }] })).toEqual([1]);
    expect(await check({ cancels: new Set([job.id]) })).toEqual([1]);
    expect(await check({ requeues: new Map([['dlq', job.id]]) })).toEqual([1]);
  });
});

describe('what can be said of all jobs together', () => {
  async function whole(
    change: (parts: { jobs: ReadJobs; store: Store }) => { jobs: ReadJobs; store: Store },
  ) {
    const nap = task({ name: 'nap' }, ({ input }) => input);
    const rig = await appOf(nap);
    for (const n of [1, 2])
      await rig.ended((await rig.app.start(nap, { n }, { idempotencyKey: `k${n}` })).job);
    const verdict = newVerdict();
    const jobs = await readJobs(rig.store, { hits: new Hits(), verdict });
    await checkWhole({ ...change({ jobs, store: rig.store }), verdict });
    return found(verdict);
  }
  /** The same jobs, with something else in some of them. */
  const changed = (jobs: ReadJobs, how: (index: number) => object): ReadJobs['jobs'] =>
    new Map(
      [...jobs.jobs].map(([id, { jobId, job, steps }], index) => {
        const { spec = {}, ...rest } = how(index) as { spec?: object };
        return [id, { jobId, steps, job: job && { ...job, ...rest, spec: { ...job.spec, ...spec } } }];
      }),
    );
  const fired = (fireAt: number) => ({ spec: { firedBy: { scheduleId: SCHEDULE.id, fireAt } } });

  test('nothing is wrong where nothing is', async () => {
    expect(await whole((parts) => parts)).toEqual([]);
  });

  test('invariant 7: a result that does not follow from the input', async () => {
    const spoil = (jobs: ReadJobs) => ({ ...jobs, jobs: changed(jobs, () => ({ result: '{"n":0}' })) });
    expect(await whole(({ jobs, store }) => ({ store, jobs: spoil(jobs) }))).toEqual([7, 7]);
  });

  test('invariant 9: a slot of the schedule that was left out', async () => {
    const gap = (jobs: ReadJobs) => changed(jobs, (index) => fired(index * 2 * SCHEDULE.everyMs));
    expect(await whole(({ jobs, store }) => ({ store, jobs: { ...jobs, jobs: gap(jobs) } }))).toEqual([9]);
  });

  test('invariant 10: a key, and a slot, of two jobs', async () => {
    const same = (jobs: ReadJobs) => changed(jobs, () => ({ spec: { idempotencyKey: 'same' } }));
    expect(await whole(({ jobs, store }) => ({ store, jobs: { ...jobs, jobs: same(jobs) } }))).toEqual([10]);
    const twice = (jobs: ReadJobs) => changed(jobs, () => fired(1));
    expect(await whole(({ jobs, store }) => ({ store, jobs: { ...jobs, jobs: twice(jobs) } }))).toContain(10);
  });

  test('invariant 11: more jobs within the period than the rate allows', async () => {
    const begun = new Map([['rated', Array.from({ length: RATE.limit + 1 }, (_, index) => index)]]);
    expect(await whole(({ jobs, store }) => ({ store, jobs: { ...jobs, begun } }))).toEqual([11]);
  });

  test('invariants 15 and 25: counts that are not what the logs make, and a job that has not ended', async () => {
    const counts: Store['counts'] = async () => ({ now: 0, counts: { succeeded: 1 } });
    expect(await whole(({ jobs, store }) => ({ jobs, store: { ...store, counts } }))).toEqual([15]);
    const queued = (jobs: ReadJobs) => changed(jobs, () => ({ status: 'queued' }));
    const breaches = await whole(({ jobs, store }) => ({ store, jobs: { ...jobs, jobs: queued(jobs) } }));
    expect(breaches).toEqual([15, 15, 25, 25]);
  });

  test('invariant 24: a lease that nobody has ended', async () => {
    const worker = { worker: { id: 'w', incarnation: 'w.1' }, lanes: [], leaseUntil: 1_000, dead: false };
    const { store } = await appOf();
    for (const [now, expected] of [
      [3_000, []],
      [3_001, [24]],
    ] as const) {
      const verdict = newVerdict();
      const workers: Store['workers'] = async () => ({ now, workers: [worker] });
      await checkLeases({ store: { ...store, workers }, verdict, leaseMs: 2_000 });
      expect(found(verdict)).toEqual(expected);
    }
  });
});
