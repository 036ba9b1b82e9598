import { join } from 'node:path';
import type { WorkOptions } from '../client/pawl.js';
import { systemClock } from '../client/system-clock.js';
import { PawlError } from '../errors.js';
import type { Job } from '../kernel/index.js';
import { eventually } from './eventually.js';
import type { Ground } from './ground.js';
import { lateTask } from './late-task.js';
import { orderTasks } from './order-task.js';
import { Points } from './points.js';
import { lookAfter, signalTo, SIGNALS, type TrialJob } from './trial-job.js';
import { prepare, type Cut, type Prepared, type Worker } from './trial-worker.js';
import { sightings } from './witness.js';
import type { Program } from './worker-process.js';

/** Of workers that are struck: short, so that others soon take over; long enough for a busy machine to keep it. */
export const LEASE_MS = 600;
/** Of those that take over: they must not lose theirs because the machine is busy. */
const LONG_LEASE_MS = 1_500;
export const POLL_MS = 20;

export type TrialOptions = {
  /** Which trial of its fault it is, from 0. */
  readonly number: number;
  /** What processes are started with. */
  readonly program: Program;
  /** How long anything may take before it counts as stuck. */
  readonly patienceMs: number;
};

type Wanted = Cut & {
  readonly options?: WorkOptions;
  readonly url?: string;
  /** A process that stands ready, instead of a new one. */
  readonly ready?: Prepared;
};

/** The fault could not be made to strike as it should: nothing is proven, and nothing refuted. */
export class Missed extends Error {
  override readonly name = 'Missed';
}

const definitions = new Points();
const { order } = orderTasks(definitions);
const late = lateTask(definitions);

/** One job or a few, the processes that work on them, and whoever looks after what only people can do. */
export class Trial {
  readonly ground: Ground;
  /** Which of a fault's variants this is: trials take turns. */
  readonly number: number;
  readonly jobs: TrialJob[] = [];
  readonly #program: Program;
  readonly #patienceMs: number;
  readonly #workers: Worker[] = [];
  #started = 0;

  constructor(ground: Ground, { number, program, patienceMs }: TrialOptions) {
    this.ground = ground;
    this.number = number;
    this.#program = program;
    this.#patienceMs = patienceMs;
  }

  get workers(): readonly Worker[] {
    return this.#workers;
  }

  /** One of several, by turns. */
  pick<T>(variants: readonly T[]): T {
    return variants[this.number % variants.length] as T;
  }

  /** A worker as the fault wants it; without wishes, one that finishes what others left. */
  async work({ options, at, by, hold, ready, url = this.ground.url }: Wanted = {}): Promise<Worker> {
    const { worker, armed } = ready ?? this.#prepare({ at, by, hold });
    const isStruck = at !== undefined || hold !== undefined;
    const lease = isStruck ? LEASE_MS : LONG_LEASE_MS;
    await worker.process.order({ work: url, options: { lease, poll: POLL_MS, ...options }, armed });
    if (worker.process.isGone && worker.process.signalCode === null) {
      throw new Error(`a worker could not be started: ${worker.process.said}`);
    }
    return worker;
  }

  /** A process that has started, and knows nothing of any store yet: it is soon at work. */
  async ready(): Promise<Prepared> {
    const prepared = this.#prepare({});
    await prepared.worker.process.order({ ready: true });
    return prepared;
  }

  /** A process that sends one signal, and dies on the way. */
  async send(job: TrialJob, { at }: { at: string }): Promise<Worker> {
    const { worker, armed } = this.#prepare({ at });
    const signal = { store: this.ground.url, jobId: job.handle.id, key: 'late' };
    await worker.process.order({ signal, payload: SIGNALS['late'], armed });
    return worker;
  }

  /** A process that keeps all others from writing to the file, until it is killed. */
  async lock(path: string): Promise<Worker> {
    const { worker } = this.#prepare({});
    await worker.process.order({ lock: path });
    return worker;
  }

  async order({ withheld = false }: { withheld?: boolean } = {}): Promise<TrialJob> {
    const { store } = this.ground;
    await store.pauseQueue({ queue: 'default', paused: true, by: 'matrix' });
    const job = await this.#start('order', withheld);
    await signalTo(job, 'early');
    await signalTo(job, 'early-too');
    await store.pauseQueue({ queue: 'default', paused: false, by: 'matrix' });
    return job;
  }

  late(): Promise<TrialJob> {
    return this.#start('late', false);
  }

  /** Started while nobody can tell whether the store hears it. It counts once it is acknowledged. */
  async orderBlindly(): Promise<void> {
    await this.#start('order', false);
  }

  /** Looks after the jobs until something is so. */
  async until(what: string, look: () => Promise<boolean> | boolean): Promise<void> {
    const step = async (): Promise<true | null> => {
      try {
        for (const job of this.jobs) await lookAfter(this.ground.app, job);
        return (await look()) ? true : null;
      } catch (error) {
        if (error instanceof PawlError && error.retryable) return null;
        throw error;
      }
    };
    await eventually(step, what, { withinMs: this.#patienceMs });
  }

  /** Until a worker has come to a point: by then it is dead, or stands still. */
  async struck(worker: Worker, at: string): Promise<void> {
    await this.until(`a worker comes to '${at}'`, async () => {
      if (worker.trace().includes(at)) return true;
      const ended = await this.#all(({ finishedAt }) => finishedAt !== null);
      if (ended && this.jobs.length > 0) throw new Missed(`no worker ever came to '${at}'`);
      return false;
    });
  }

  /** Until a body has been entered. */
  entered(job: TrialJob, body: string): Promise<void> {
    return this.until(`${body} is entered`, () => sightings(job.witness).some(({ what }) => what === body));
  }

  waiting(job: TrialJob): Promise<void> {
    return this.until('the job waits for a signal', async () => {
      const { status, waits } = await job.handle.status();
      return status === 'waiting' && waits.some(({ key }) => key === 'late');
    });
  }

  /** Kills a worker, or lets it stand still: not in the middle of a transaction on a file, whose one lock it would keep. */
  async strike({ process }: Worker, signal: 'SIGKILL' | 'SIGSTOP'): Promise<void> {
    if (signal === 'SIGKILL') return process.kill();
    await eventually(async () => {
      process.signal('SIGSTOP');
      if (!(await this.ground.isLocked())) return true;
      process.signal('SIGCONT');
      return null;
    }, 'a worker is frozen between two transactions');
  }

  /** Lets time pass without asking the store anything. */
  rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      systemClock.after(ms, resolve);
    });
  }

  async pass(ms: number): Promise<void> {
    const until = systemClock.elapsed() + ms;
    await this.until('some time has passed', () => systemClock.elapsed() >= until);
  }

  finish(): Promise<void> {
    return this.until('all jobs have ended', () => this.#all(({ finishedAt }) => finishedAt !== null));
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map(({ process }) => process.kill()));
  }

  #prepare(cut: Cut): Prepared {
    const trace = join(this.ground.folder, `trace.${this.#workers.length}`);
    const prepared = prepare(this.#program, trace, cut);
    this.#workers.push(prepared.worker);
    return prepared;
  }

  async #start(kind: TrialJob['kind'], withheld: boolean): Promise<TrialJob> {
    const witness = join(this.ground.folder, `witness.${this.#started++}`);
    const { job: handle } = await this.ground.app.start(kind === 'order' ? order : late, { witness });
    const job: TrialJob = { kind, handle, witness, signals: new Map(), withheld };
    this.jobs.push(job);
    return job;
  }

  async #all(fits: (job: Job) => boolean): Promise<boolean> {
    const states = await Promise.all(this.jobs.map(({ handle }) => handle.status()));
    return states.every(fits);
  }
}
