import { isDeepStrictEqual } from 'node:util';
import { join } from 'node:path';
import { readLog, readSteps } from '../../src/engine/read-log.js';
import { decidedEntry, type Job, type StepLog } from '../../src/kernel/index.js';
import { findProblems } from '../../src/matrix/find-problems.js';
import { ORDER_RESULT, orderTasks } from '../../src/matrix/order-task.js';
import { nameOf } from '../../src/matrix/pointed-store.js';
import { Points, type Armed } from '../../src/matrix/points.js';
import { linesOf, sightings, type Sighting } from '../../src/matrix/witness.js';
import type { CrashGround } from './crash-ground.js';

import { eventually, WorkerProcess } from './worker-process.js';

const { order } = orderTasks(new Points());

/** Short, so that the next worker soon takes over; long enough for a busy machine to keep it. */
const LEASE_MS = 800;
const POLL_MS = 20;
/** How long after the end of its job a worker may take to come by a point that is left. */
const STRAGGLE_MS = 500;

const EFFECTS = ['charge', 'mail', 'parcel'] as const;
type Body = 'quote' | (typeof EFFECTS)[number];

/** How things stood when a worker had just died. */
type Death = {
  readonly point: string;
  readonly sighted: number;
  /** The jobs whose lease must run out before they go on. */
  readonly held: readonly string[];
  /** Bodies whose result is recorded. */
  readonly recorded: ReadonlySet<Body>;
  /** Effects whose intent is recorded, and no result stored. */
  readonly open: ReadonlySet<string>;
};

/** One job, and what became of it while its workers were killed. */
export type CrashRun = {
  readonly kills: readonly string[];
  /** The points that each worker has passed. */
  readonly traces: readonly (readonly string[])[];
  /** What is wrong. */
  readonly problems: readonly string[];
  /** The first point that was never reached. */
  readonly missed: string | null;
  /** A worker lost its lease without being killed: the machine stood still, which may leave other traces. */
  readonly disturbed: boolean;
  /** Entries that an operator had to decide on. */
  readonly decided: readonly string[];
  readonly sightings: readonly Sighting[];
  readonly events: readonly string[];
};

/**
 * Runs one job after the other on one store, and kills its workers. Whoever finished a job is the victim of the next
 * one; a spare process stands by.
 */
export class CrashLane {
  readonly #ground: CrashGround;
  #worker: WorkerProcess | null = null;
  #spare = new WorkerProcess();
  #runs = 0;

  constructor(ground: CrashGround) {
    this.#ground = ground;
  }

  /** Kills the first worker at the first point, its successor at the second, and so on; the last one lives. */
  async run(kills: readonly string[]): Promise<CrashRun> {
    const { app, store, folder } = this.#ground;
    const name = join(folder, String(this.#runs++));
    const witness = `${name}.witness`;
    const armed = kills.concat('').map((at, n): Armed => ({ at: at || null, trace: `${name}.trace.${n}` }));
    const [first] = armed;
    if (this.#worker === null) this.#worker = await this.#next(first as Armed);
    else await this.#worker.order({ arm: first as Armed });

    await store.pauseQueue({ queue: 'default', paused: true, by: 'test' });
    const { job: handle } = await app.start(order, { witness });
    await handle.signal('early', 'one');
    await handle.signal('early-too', 'two');
    await store.pauseQueue({ queue: 'default', paused: false, by: 'test' });

    const deaths: Death[] = [];
    const decided: string[] = [];
    let spoken = false;
    await eventually(
      async () => {
        if (this.#worker?.isGone) {
          deaths.push(await this.#inspect(handle.id, { point: kills[deaths.length] ?? '', witness }));
          this.#worker = await this.#next(
            armed[deaths.length] ?? { at: null, trace: `${name}.trace.${deaths.length}` },
          );
        }
        const job = await handle.status();
        for (const wait of job.waits) {
          if (wait.key === 'late' && !spoken) {
            spoken = true;
            // Its sender dies before it can wake the job.
            await store.putMessage({ jobId: handle.id, key: 'late', payload: '"three"' });
          }
          const asked = decidedEntry(wait);
          if (asked === null || job.status !== 'waiting') continue;
          decided.push(`${asked.step}/${asked.entry}`);
          const happened = sightings(witness).some(({ what }) => what === asked.step);
          const verdict = happened ? ({ verdict: 'happened', result: 'mailed' } as const) : NOT_HAPPENED;
          await app.resolveEffect(handle.id, { step: asked.step, by: 'test', ...verdict });
        }
        return job.finishedAt !== null && (await this.#ground.mail()) === 0 ? job : null;
      },
      `a job ended, killed at ${kills.join(', then ')}`,
    );
    const missed = await this.#straggler(armed[deaths.length]);
    if (missed === null && deaths.length < kills.length) {
      deaths.push(await this.#inspect(handle.id, { point: kills[deaths.length] ?? '', witness }));
    }

    const seen = sightings(witness);
    const events = (await readLog(store, handle.id)).flatMap((commit) => commit.events);
    const disturbed = await this.#isDisturbed(handle.id, deaths);
    return {
      kills,
      traces: armed.map(({ trace }) => linesOf(trace)),
      problems: [
        ...(await this.#wrongWith(handle.id)),
        ...wrongSightings(seen, deaths),
        ...(disturbed ? [] : [...wrongQuestions(seen, deaths), ...wrongDecisions(decided, deaths)]),
      ],
      missed,
      disturbed,
      decided,
      sightings: seen,
      events: events.map(nameOf),
    };
  }

  /** A run that has come to no end. */
  brokenOff(kills: readonly string[], error: unknown): CrashRun {
    const problems = [`${String(error)}\n${this.#worker?.said ?? ''}`];
    const nothing = { traces: [], missed: null, disturbed: false, decided: [], sightings: [], events: [] };
    return { kills, problems, ...nothing };
  }

  async close(): Promise<void> {
    await Promise.all([this.#worker?.kill(), this.#spare.kill()]);
    await this.#ground.close();
  }

  async #next(armed: Armed): Promise<WorkerProcess> {
    const worker = this.#spare;
    this.#spare = new WorkerProcess();
    await worker.order({
      work: this.#ground.url,
      options: { lease: LEASE_MS, poll: POLL_MS },
      armed,
    });
    return worker;
  }

  /** The point that the last worker should have died at and did not; null if it has, or was to live. */
  async #straggler(armed: Armed | undefined): Promise<string | null> {
    if (armed === undefined || armed.at === null) return null;
    const giveUpAt = Date.now() + STRAGGLE_MS;
    for (;;) {
      if (linesOf(armed.trace).at(-1) === armed.at) break;
      if (Date.now() > giveUpAt) return armed.at;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await this.#worker?.kill();
    this.#worker = null;
    return null;
  }

  async #inspect(jobId: string, { point, witness }: { point: string; witness: string }): Promise<Death> {
    const steps = await readSteps(this.#ground.store, jobId);
    const childId = childOf(steps);
    const ofChild = childId === null ? null : await readSteps(this.#ground.store, childId).catch(() => null);
    const recorded = new Set<Body>();
    const open = new Set<string>();
    const quote = steps.get({ step: 'quote', occurrence: 1 });
    if (quote?.kind === 'run' && quote.output !== null) recorded.add('quote');
    for (const effect of EFFECTS) {
      const [owner, log] = effect === 'parcel' ? [childId, ofChild] : [jobId, steps];
      const step = log?.get({ step: effect, occurrence: 1 });
      if (owner === null || step?.kind !== 'effect') continue;
      if (step.result !== null) recorded.add(effect);
      const { results } = await this.#ground.store.effects(owner);
      const stored = results.some((one) => one.step === effect && one.entry === step.entry);
      if (step.state === 'open' && !stored) open.add(`${effect}/${step.entry}`);
    }
    const held: string[] = [];
    for (const id of [jobId, ...(childId === null ? [] : [childId])]) {
      const { found } = await this.#ground.store.load(id);
      if (found?.job.status === 'running') held.push(id);
    }
    return { point, sighted: sightings(witness).length, held, recorded, open };
  }

  /** More interruptions than deaths account for. */
  async #isDisturbed(jobId: string, deaths: readonly Death[]): Promise<boolean> {
    const { store } = this.#ground;
    const childId = childOf(await readSteps(store, jobId));
    for (const id of [jobId, ...(childId === null ? [] : [childId])]) {
      const events = (await readLog(store, id)).flatMap((commit) => commit.events);
      const interrupted = events.filter(({ type }) => type === 'attempt.interrupted').length;
      if (interrupted > deaths.filter(({ held }) => held.includes(id)).length) return true;
    }
    return false;
  }

  async #wrongWith(jobId: string): Promise<string[]> {
    const { store } = this.#ground;
    const problems: string[] = [];
    const steps = await readSteps(store, jobId);
    const childId = childOf(steps);
    for (const id of [jobId, childId ?? 'the child']) {
      problems.push(...(await findProblems(store, id)));
      const { found } = await store.load(id);
      problems.push(...wrongEnd(found?.job ?? null, id === jobId ? ORDER_RESULT : ORDER_RESULT.shipped));
      const { messages } = await store.inbox(id);
      problems.push(...messages.map(({ key }) => `nobody has read '${key}'`));
    }
    const { entries } = await store.deadOutbox({ kind: 'child', limit: 10 });
    return [...problems, ...entries.map(({ kind }) => `mail was given up: ${kind}`)];
  }
}

const NOT_HAPPENED = { verdict: 'notHappened' } as const;

function childOf(steps: StepLog): string | null {
  const call = steps.get({ step: 'ship', occurrence: 1 });
  return call?.kind === 'wait' ? (call.child?.childId ?? null) : null;
}

function wrongEnd(job: Job | null, expected: unknown): string[] {
  if (job === null) return ['it does not exist'];
  const { status, result, retryCount, failure } = job;
  if (status !== 'succeeded') return [`it is ${status}: ${failure?.message ?? ''}`];
  const problems = isDeepStrictEqual(JSON.parse(result ?? 'null'), expected)
    ? []
    : [`its result is ${result}`];
  return retryCount === 0 ? problems : [...problems, `it has spent ${retryCount} retries`];
}

function wrongSightings(seen: readonly Sighting[], deaths: readonly Death[]): string[] {
  const problems: string[] = [];
  for (const effect of EFFECTS) {
    const times = seen.filter(({ what }) => what === effect).length;
    if (times !== 1) problems.push(`${effect} happened ${times} times`);
  }
  for (const { point, sighted, recorded } of deaths) {
    const again = seen.slice(sighted).find(({ what }) => recorded.has(what as Body));
    if (again) problems.push(`${again.what} ran again, although recorded ${point}`);
  }
  return problems;
}

/** Nobody asks after an effect whose outcome is known. */
function wrongQuestions(seen: readonly Sighting[], deaths: readonly Death[]): string[] {
  return EFFECTS.flatMap((effect) => {
    const asked = seen.filter(({ what }) => what.startsWith(`${effect}: `)).length;
    const unknown = deaths.filter(({ open }) => [...open].some((one) => one.startsWith(effect))).length;
    return asked > unknown ? [`${effect} was asked after ${asked} times`] : [];
  });
}

/** No operator is asked, except where an effect that cannot be asked after was cut off between intent and result. */
function wrongDecisions(decided: readonly string[], deaths: readonly Death[]): string[] {
  const expected = new Set(deaths.flatMap(({ open }) => [...open]).filter((one) => one.startsWith('mail')));
  if (isDeepStrictEqual(new Set(decided), expected) && decided.length === expected.size) return [];
  return [`decided: ${decided.join(', ')}; expected: ${[...expected].join(', ')}`];
}
