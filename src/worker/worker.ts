import { holderLane, laneOf, LEASE_RENEWAL_SHARE, type Job } from '../kernel/index.js';
import { PawlError } from '../errors.js';
import { atMost } from '../engine/at-most.js';
import type { Engine } from '../engine/engine.js';
import { give } from '../engine/give.js';
import { repeat, type Stoppable } from '../engine/repeat.js';
import { isSuspect } from '../engine/suspect.js';
import { startUpkeep } from '../engine/upkeep.js';
import type { BeatReply, Head, Loaded } from '../ports/store.js';
import { Claims } from './claims.js';
import type { Surroundings } from './execution.js';
import { Lanes } from './lanes.js';
import { LeaseKeeper } from './lease-keeper.js';
import { prepareAttempt, type Prepared } from './prepare-attempt.js';
import { runAttempt } from './run-attempt.js';
import type { TaskDefinition } from './task-definition.js';
import { Strangers } from './strangers.js';
import { UnreadJobs } from './unread-jobs.js';
import type { WorkerOptions } from './worker-options.js';

/**
 * A store that does not answer must not keep a process from ending: for all that it is asked while the worker stops it has the time for
 * draining, and this. What it has not answered by then is found by its lease.
 */
const HAND_BACK_MS = 5_000;

/** One claimed job. `prepared` is null while its past is being read. */
type Running = {
  prepared: Prepared | null;
  done: Promise<void>;
  readonly claimed: Job;
};

/** Claims jobs, runs them under its lease, and takes part in the engine's upkeep. */
export class Worker {
  readonly #engine: Engine;
  readonly #options: WorkerOptions;
  readonly #keeper: LeaseKeeper;
  readonly #around: Surroundings;
  readonly #lanes: Lanes;
  readonly #claims: Claims;
  readonly #unread: UnreadJobs;
  /** By attempt. */
  readonly #running = new Map<string, Running>();
  readonly #strangers = new Strangers();
  /** When those that wait for a message last looked for it. */
  #toldAt = 0;
  #claimLoop: Stoppable | null = null;
  #upkeep: Stoppable | null = null;
  #stopListening: (() => Promise<void>) | null = null;
  #started: Promise<void> | null = null;
  #draining = false;
  /** The time for draining is over: whatever is still held goes back. */
  #handsBack = false;
  /** What the store answers from now on is nobody's: nothing more is sent because of it. */
  #hasStopped = false;

  constructor(engine: Engine, options: WorkerOptions) {
    this.#engine = engine;
    this.#options = options;
    this.#lanes = new Lanes(options.tasks, options.queues);
    this.#keeper = new LeaseKeeper(engine, {
      workerId: options.workerId,
      namedUnder: options.namedUnder ?? '',
      leaseMs: options.leaseMs,
      lanes: this.#lanes.names,
      onBeat: () => {
        const known = [...this.#running.keys()];
        return (held) => this.#compare(held, known);
      },
      onLost: (reason) => this.#loseAll(reason),
      onReplaced: (error) => options.onStopped(error),
    });
    this.#unread = new UnreadJobs(() => engine.clock.elapsed());
    this.#claims = new Claims(engine, {
      lanes: this.#lanes,
      keeper: this.#keeper,
      room: () => (this.#draining ? 0 : options.concurrency - this.#running.size),
      hasSuspect: () => this.#hasSuspect(),
      unread: () => this.#unread.left,
      run: (job, head) => this.#run(job, head),
    });
    this.#around = {
      engine,
      holdsLease: this.#keeper.isValid,
      leaseMs: options.leaseMs,
      bodies: new Set(),
      hooks: options.hooks,
      tracing: options.tracing,
    };
  }

  get running(): number {
    return this.#running.size;
  }

  /** Its lease stands, and its claims are answered, or all its hands are full. */
  get isAble(): boolean {
    const { clock } = this.#engine;
    const { pollMs, concurrency, leaseMs } = this.#options;
    const recently = clock.elapsed() - this.#claims.answeredAt <= Math.max(pollMs * 3, leaseMs);
    return this.#keeper.isValid() && (recently || this.running >= concurrency);
  }

  get id(): string {
    return this.#keeper.worker.id;
  }

  /** Once. Throws if the store does not take it on: then nothing of it is left. */
  start(): Promise<void> {
    this.#started = this.#begin();
    return this.#started;
  }

  async #begin(): Promise<void> {
    const { pollMs, leaseMs, upkeep = true } = this.#options;
    const engine = this.#engine;
    if (this.#draining) return;
    await this.#keeper.start();
    // Whoever has stopped it meanwhile waits for this, and then ends what there is.
    if (this.#draining) return;
    this.#stopListening = engine.store.listen((lanes) => this.#hear(lanes));
    const pass = () => this.#claims.next();
    const { claims: bell } = engine.bells;
    this.#claimLoop = repeat(engine, { name: 'the claim loop', bell, everyMs: pollMs, pass });
    if (!upkeep) return;
    this.#upkeep = startUpkeep(engine, {
      pollMs,
      leaseMs,
      retention: this.#options.retention,
      restarted: () => (this.#options.workerId === null ? null : this.#keeper.worker),
    });
  }

  /**
   * Stops claiming, waits for what runs, and hands back what does not end in time: that costs no attempt. False: the store has not
   * answered in time, and what is left is found by its lease.
   */
  async stop({ drainMs }: { drainMs: number }): Promise<boolean> {
    if (this.#draining) return true;
    this.#draining = true;
    const { alarms, clock } = this.#engine;
    const claimed = this.#stopClaiming();
    await atMost(alarms, drainMs, claimed.then(this.#allDone));
    this.#handBackAll();
    const until = clock.elapsed() + HAND_BACK_MS;
    const others = Promise.allSettled([this.#stopListening?.(), this.#upkeep?.stop()]);
    const handedBack = await atMost(alarms, HAND_BACK_MS, Promise.all([claimed.then(this.#allDone), others]));
    const isIdle = handedBack && this.#running.size === 0 && this.#around.bodies.size === 0;
    const stopped = this.#keeper.stop().then(() => (isIdle ? this.#keeper.resign() : undefined));
    const kept = await atMost(alarms, until - clock.elapsed(), stopped);
    // What could not be handed back either: its lease is no longer renewed.
    this.#hasStopped = true;
    this.#loseAll('the worker has stopped');
    return handedBack && kept;
  }

  /** Once no claim is under way. */
  async #stopClaiming(): Promise<void> {
    const stopped = this.#claimLoop?.stop();
    await this.#started?.catch(() => undefined);
    await stopped;
    await this.#claims.ended();
  }

  /** Of one whose past is still being read, nothing has been begun: it is handed back without waiting for that. */
  #handBackAll(): void {
    this.#handsBack = true;
    for (const [attemptId, running] of this.#running) {
      const { prepared, claimed } = running;
      if (prepared === null) running.done = this.#interrupt(claimed.spec.jobId, attemptId);
      else prepared.attempt.handBack();
    }
  }

  #hasSuspect(): boolean {
    return [...this.#running.values()].some(({ prepared, claimed }) =>
      isSuspect(prepared?.attempt.job ?? claimed),
    );
  }

  #run(job: Job, head: Head | undefined): void {
    const task = this.#lanes.taskOf(laneOf(job.spec));
    const { attemptId } = job;
    if (task === undefined || head === undefined || attemptId === null) return;
    const running: Running = { prepared: null, done: Promise.resolve(), claimed: job };
    if (this.#hasStopped) return;
    this.#running.set(attemptId, running);
    if (this.#handsBack) {
      // Claimed before, and answered only now.
      running.done = this.#interrupt(job.spec.jobId, attemptId).then(() => this.#makeRoom(job));
      return;
    }
    running.done = this.#finish(running, { job, ...head }, task);
  }

  /** Runs it until this worker has done with it. Never throws. */
  #finish(running: Running, head: Loaded, task: TaskDefinition): Promise<void> {
    return this.#execute(running, head, task).then(
      () => this.#makeRoom(head.job),
      (error: unknown) => this.#breakOff(head.job, error),
    );
  }

  #execute(running: Running, head: Loaded, task: TaskDefinition): Promise<void> {
    try {
      const preparing = prepareAttempt(this.#around, head);
      const run = (prepared: Prepared): Promise<void> => this.#runPrepared(running, prepared, task);
      return preparing instanceof Promise ? preparing.then(run) : run(preparing);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #runPrepared(running: Running, prepared: Prepared, task: TaskDefinition): Promise<void> {
    this.#unread.forget(running.claimed.spec.jobId);
    // Lost before anyone could tell it so, or handed back.
    if (this.#handsBack || prepared.attempt.isOver || !this.#keeper.holds(running.claimed))
      return Promise.resolve();
    running.prepared = prepared;
    return runAttempt(prepared, task);
  }

  /** Nobody runs it: the next heartbeats find it here, unknown, and hand it back. */
  async #breakOff(job: Job, error: unknown): Promise<void> {
    this.#engine.log.error('a job could not be run', { jobId: job.spec.jobId, error });
    if (!(error instanceof PawlError && error.retryable)) await this.#leave(job);
    this.#makeRoom(job);
  }

  /** It cannot be read here, and not in a moment either: others may have it at once. */
  async #leave({ attemptId, spec }: Job): Promise<void> {
    if (this.#unread.leave(spec.jobId) && attemptId !== null) await this.#interrupt(spec.jobId, attemptId);
  }

  #makeRoom({ attemptId, spec }: Job): void {
    if (attemptId !== null) this.#running.delete(attemptId);
    if (this.#claims.isHungry) this.#engine.bells.claims.ring();
    // Jobs with the same key may have been waiting for this one, here or elsewhere.
    if (spec.concurrencyKey !== null) this.#engine.store.wake([laneOf(spec)]);
  }

  #hear(lanes: readonly string[]): void {
    const mine = holderLane({ worker: this.#keeper.worker });
    if (lanes.includes(mine)) {
      this.#keeper.beatNow();
      this.#toldAt = this.#engine.clock.elapsed();
      for (const { prepared } of this.#running.values()) prepared?.execution.waits.hear();
    }
    if (lanes.some((lane) => lane !== mine)) this.#engine.bells.claims.ring();
  }

  /** Word of a message may get lost: at every heartbeat those that wait for one while they run look for it, unless they just have. */
  #lookForMessages(now: number): void {
    if (now - this.#toldAt < (this.#options.leaseMs * LEASE_RENEWAL_SHARE) / 2) return;
    this.#toldAt = now;
    for (const { prepared } of this.#running.values()) {
      if (prepared?.execution.isWaiting) prepared.execution.waits.hear();
    }
  }

  /** What the store says is held here, against what is. `known`: what was known here when it was asked. */
  #compare(held: BeatReply['held'], known: readonly string[]): void {
    const listed = new Set(held.map(({ attemptId }) => attemptId));
    for (const attemptId of known.filter((one) => !listed.has(one))) {
      const attempt = this.#running.get(attemptId)?.prepared?.attempt;
      if (!attempt?.isSending) attempt?.lose('the job was taken from this worker');
    }
    const now = this.#engine.clock.elapsed();
    this.#lookForMessages(now);
    const unknown = held.filter(({ attemptId }) => !this.#running.has(attemptId));
    const staying = this.#strangers.staying(unknown, {
      now,
      ms: this.#options.leaseMs * LEASE_RENEWAL_SHARE,
    });
    for (const { jobId, attemptId } of staying) void this.#interrupt(jobId, attemptId);
  }

  #loseAll(reason: string): void {
    for (const { prepared } of this.#running.values()) prepared?.attempt.lose(reason);
  }

  async #interrupt(jobId: string, attemptId: string): Promise<void> {
    try {
      await give(this.#engine, jobId, ({ job }) => {
        if (this.#hasStopped || job.attemptId !== attemptId || job.status !== 'running') return null;
        const actor = `worker:${this.id}`;
        const cause = { reason: 'drained' } as const;
        return { command: { type: 'interrupt', now: this.#engine.now(), actor, attemptId, cause } };
      });
    } catch (error) {
      this.#engine.log.warn('a job could not be handed back', { jobId, error });
    }
  }

  readonly #allDone = (): Promise<unknown> =>
    Promise.allSettled([...this.#running.values()].map(({ done }) => done));
}
