import { deepStrictEqual, ok } from 'node:assert/strict';
import type { JobHandle } from '../client/job-handle.js';
import type { AnyTask, Task } from '../client/task.js';
import { decodeEvents, replay, type Commit, type Event, type Job } from '../kernel/index.js';
import type { Store } from '../ports/store.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import { fakeClock } from './fake-clock.js';
import { MortalStore, type CrashPoint } from './mortal-store.js';
import { T0 } from './sample-job.js';
import { advanceUntil } from './advance-until.js';
import { testApp, type TestAppOptions } from './test-app.js';

export type CrashOptions = Pick<TestAppOptions, 'hooks'> & {
  /** Other tasks that the job calls. */
  readonly tasks?: readonly AnyTask[];
  /** Sent to the job as soon as it is started, by key. */
  readonly signals?: Readonly<Record<string, unknown>>;
  /** Called before each of the runs, to set back what the task writes outside. */
  readonly before?: () => void | Promise<void>;
  /** Called after each run; throws if something is wrong outside. */
  readonly check?: (run: CrashRun) => void | Promise<void>;
};

export type CrashRun = {
  /** Where the first worker died; null: nowhere. */
  readonly crash: (CrashPoint & { readonly write: string }) | null;
  /** `parked`: an effect may or may not have happened, and nobody but an operator can tell. */
  readonly ended: 'succeeded' | 'failed' | 'cancelled' | 'parked';
  readonly result: unknown;
  readonly events: readonly Event[];
};

/** A day is longer than any lease, and any settling of effects, that a test would set. */
const MOST_MS = 90 * 86_400_000;

/**
 * Runs a task once undisturbed, then once for each write that it makes, before and after it, with a worker that dies
 * there and another that takes over. Throws, naming the place, if one of these runs ends otherwise than the first, or if
 * an effect was entered twice although nobody had declared it not to have happened. A parked run is no error.
 */
export async function crashAtEveryEvent<I, R>(
  task: Task<I, R>,
  input: I,
  options: CrashOptions = {},
): Promise<{ readonly result: unknown; readonly runs: readonly CrashRun[] }> {
  const first = await runOnce(task, input, { ...options, crash: null });
  await options.check?.(first.run);
  const runs = [first.run];
  for (const [index, write] of first.writes.entries()) {
    for (const when of ['before', 'after'] as const) {
      const crash = { when, nth: index + 1 };
      const { run } = await runOnce(task, input, { ...options, crash });
      const place = `killed ${when} write ${crash.nth} (${write})`;
      if (run.ended !== 'parked') {
        deepStrictEqual([run.ended, run.result], [first.run.ended, first.run.result], place);
      }
      expectOneEntryEach(run.events, place);
      await options.check?.(run);
      runs.push(run);
    }
  }
  return { result: first.run.result, runs };
}

async function runOnce<I, R>(
  task: Task<I, R>,
  input: I,
  { tasks = [], signals = {}, before, hooks, crash }: CrashOptions & { crash: CrashPoint | null },
): Promise<{ run: CrashRun; writes: readonly string[] }> {
  await before?.();
  const clock = fakeClock(T0);
  const store = memoryStore({ clock });
  const known = [task, ...tasks];
  const common = { tasks: known, clock, ...(hooks ? { hooks } : {}) };
  const starter = await testApp({ ...common, store, work: false, seed: 1 });
  const mortal = new MortalStore(store, crash);
  const victim = await testApp({ ...common, store: mortal.store, seed: 2 });
  const { job } = await starter.app.start(task, input);
  for (const [key, payload] of Object.entries(signals)) await job.signal(key, payload);

  const within = { atMost: MOST_MS };
  if (crash !== null) await advanceUntil(clock, async () => mortal.isDead || (await isOver(job)), within);
  // Before the lease of the dead one has run out nobody can take over: the heir lets it pass.
  const heir = crash === null ? null : await testApp({ ...common, store, seed: 3 });
  await advanceUntil(clock, () => isOver(job), within);
  const ended = await job.status();
  const run = {
    ...(await look(store, ended)),
    crash: crash && { ...crash, write: mortal.writes[crash.nth - 1] ?? '' },
  };
  await heir?.stop();
  if (!mortal.isDead) await victim.stop();
  return { run, writes: mortal.writes };
}

async function isOver<R>(job: JobHandle<R>): Promise<boolean> {
  const { status, waits, finishedAt } = await job.status();
  const parked = status === 'waiting' && waits.some(({ reason }) => reason === 'effect_unknown');
  return parked || finishedAt !== null;
}

async function look(store: Store, job: Job): Promise<Omit<CrashRun, 'crash'>> {
  const { rows } = await store.log(job.spec.jobId, { fromRev: 1, limit: 1_000_000 });
  const commits: Commit[] = rows.map(({ jobId, rev, body }) => {
    const decoded = decodeEvents(body);
    ok(decoded.ok, `the log of ${jobId} cannot be read at ${rev}`);
    return { jobId, rev, events: decoded.events };
  });
  deepStrictEqual(replay(commits).job, job, 'the log does not fold to the job');
  return {
    ended: job.status === 'waiting' ? 'parked' : (job.status as CrashRun['ended']),
    result: job.result === null ? null : (JSON.parse(job.result) as unknown),
    events: commits.flatMap(({ events }) => events),
  };
}

/** A body is entered again only after its entry was closed, or found not to have happened. */
function expectOneEntryEach(events: readonly Event[], place: string): void {
  const open = new Set<string>();
  for (const event of events) {
    if (event.type === 'effect.intended') {
      const key = `${event.step}#${event.occurrence}`;
      ok(!open.has(key), `${place}: effect '${key}' was entered twice`);
      open.add(key);
    }
    const closes =
      event.type === 'effect.closed' ||
      (event.type === 'effect.reconciled' && event.verdict === 'notHappened');
    if (closes) open.delete(`${event.step}#${event.occurrence}`);
  }
}
