import { PawlError } from '../errors.js';
import { atMost } from '../engine/at-most.js';
import type { Engine } from '../engine/engine.js';
import { toJsonText } from '../engine/json-text.js';
import { newJob, type NewJob, type StartOptions } from '../engine/new-job.js';
import { abandonJob, resolveEffect, resumeParked } from '../engine/operator.js';
import type { Retention } from '../engine/retention.js';
import { startJobs, type Started } from '../engine/start-jobs.js';
import { unknownEffects, type UnknownEffect } from '../engine/unknown-effects.js';
import { explain, type Explanation } from '../engine/why.js';
import { must, type Status } from '../kernel/index.js';
import type { Tracing } from '../ports/tracing.js';
import type { RemoteSession } from '../stores/http/http-store.js';
import type { Hooks } from '../worker/hooks.js';
import type { ReadInput, TaskDefinition } from '../worker/task-definition.js';
import { Worker } from '../worker/worker.js';
import { Alerts } from './alerts.js';
import { Callbacks } from './callbacks.js';
import { DeadLetters } from './dead-letters.js';
import { Evidence } from './evidence.js';
import { BY, OF_TENANT, type By, type OfTenant } from './by-and-tenant.js';
import { JobHandle } from './job-handle.js';
import { ABANDON, RESOLVE, type Abandon, type EffectDecision, type EffectRef } from './operator-options.js';
import { Schedules } from './schedules.js';
import { expectStarts, oneStart, type StartOne, type StartWith } from './start-options.js';
import { stopOnSignal } from './stop-on-signal.js';
import type { AnyTask, Task } from './task.js';
import { readWorkOptions, type WorkOptions } from './work-options.js';

export type { EffectDecision } from './operator-options.js';
export type { StartOne, StartWith } from './start-options.js';
export type { WorkOptions } from './work-options.js';

export type Start<R> = { readonly job: JobHandle<R>; readonly idempotentHit: boolean };

type Parts = {
  readonly tasks: readonly AnyTask[];
  readonly hooks: Hooks;
  readonly tracing: Tracing | null;
  readonly retention: Retention | null;
  readonly session: RemoteSession | null;
  readonly storeUrl: string | null;
};

/** `started`: once it works, or could not begin to. */
type Working = { readonly worker: Worker; readonly drainMs: number; readonly started: Promise<void> };

export type Inside = {
  readonly engine: Engine;
  readonly tasks: readonly TaskDefinition[];
  /** Whether its worker is able to work; null while it has none. */
  readonly isWorking: () => boolean | null;
  readonly retention: Retention | null;
  /** Where the store is that was opened for it; null for a server's, and for one that was open already. */
  readonly storeUrl: string | null;
};

/** How long calls under way may take to end when the application is closed. */
const LAST_CALLS_MS = 5_000;

const isRead = (input: ReadInput | Promise<ReadInput>): input is ReadInput => !(input instanceof Promise);

/** Nothing is said about any of them by itself, and the task has no more to ask of each. */
const areAlike = (
  { concurrency, deadlineMs }: TaskDefinition,
  said: readonly (StartOptions | undefined)[],
): boolean => concurrency === null && deadlineMs === null && said.every((options) => options === undefined);

/** An application's door to Pawl: starts jobs, works on them, and answers questions about them. */
export class Pawl {
  readonly #engine: Engine;
  readonly #tasks: readonly AnyTask[];
  readonly #hooks: Hooks;
  readonly #tracing: Tracing | null;
  readonly #retention: Retention | null;
  readonly #session: RemoteSession | null;
  readonly #storeUrl: string | null;
  readonly schedules: Schedules;
  readonly deadLetters: DeadLetters;
  readonly callbacks: Callbacks;
  readonly alerts: Alerts;
  readonly evidence: Evidence;
  #working: Working | null = null;
  #forgetSignals: () => void = () => undefined;
  /** Once every worker that was told to stop has stopped: whether the store has answered all of them. */
  #stopped: Promise<boolean> = Promise.resolve(true);
  #closed: Promise<void> | null = null;

  constructor(engine: Engine, { tasks, hooks, tracing, retention, session, storeUrl }: Parts) {
    this.#engine = engine;
    this.#tasks = tasks;
    this.#hooks = hooks;
    this.#tracing = tracing;
    this.#retention = retention;
    this.#session = session;
    this.#storeUrl = storeUrl;
    this.schedules = new Schedules(engine);
    this.deadLetters = new DeadLetters(engine);
    this.callbacks = new Callbacks(engine);
    this.alerts = new Alerts(engine);
    this.evidence = new Evidence(engine);
  }

  /** What stands behind an application, for the server that opens it to others. */
  static inside(app: Pawl): Inside {
    return {
      engine: app.#engine,
      tasks: app.#tasks.map(({ definition }) => definition),
      isWorking: () => app.#working && app.#working.worker.isAble,
      retention: app.#retention,
      storeUrl: app.#storeUrl,
    };
  }

  /** Starts a job, or finds the one that was started with the same key. */
  async start<I, R>(task: Task<I, R>, input: NoInfer<I>, options: StartWith = {}): Promise<Start<R>> {
    const [started] = await this.#startAll<I, R>(task, ...oneStart(task, input, options));
    return started as Start<R>;
  }

  /** Starts many jobs. If one of them is not as it has to be, none is started. */
  async startMany<I, R>(
    task: Task<I, R>,
    jobs: readonly StartOne<NoInfer<I>>[],
    options: { readonly tx?: unknown } = {},
  ): Promise<Start<R>[]> {
    expectStarts(task, jobs, options);
    return this.#startAll(task, jobs, options.tx);
  }

  async #startAll<I, R>(task: Task<I, R>, jobs: readonly StartOne<I>[], tx: unknown): Promise<Start<R>[]> {
    this.#expectOpen();
    const { definition } = task;
    const what = `the input of '${definition.name}'`;
    const traceparent = this.#tracing?.origin() ?? null;
    const common = {
      ...(traceparent === null ? {} : { traceparent }),
      ...(this.#session && { tenantId: this.#session.tenantId }),
    };
    // The list is the caller's, who may use it for other things while a schema takes its time.
    const said = jobs.map(({ options }) => options);
    const reading = jobs.map(({ input }) => definition.readInput(input, what));
    const read = reading.every(isRead) ? reading : await Promise.all(reading.map(async (one) => one));
    const make = (index: number): NewJob => {
      const input = must(read[index], 'each input was read');
      return newJob(this.#engine, definition, {
        input: input.text,
        concurrencyKey: definition.concurrency?.key(input.value) ?? null,
        options: { ...common, ...said[index] },
      });
    };
    const made = areAlike(definition, said)
      ? { count: said.length, make }
      : said.map((_, index) => make(index));
    const started = await startJobs(this.#engine, made, tx === undefined ? {} : { tx });
    return started.map((one) => this.#handle<R>(one));
  }

  /** A job that was started earlier, or elsewhere. */
  job<R = unknown>(jobId: string): JobHandle<R> {
    return new JobHandle(this.#engine, { jobId, tenantId: null });
  }

  /** What a job is waiting for, in one sentence. */
  why(jobId: string): Promise<Explanation> {
    return explain(this.#engine, jobId);
  }

  /** How many jobs are in each state. */
  async counts(options: OfTenant = {}): Promise<Partial<Record<Status, number>>> {
    OF_TENANT.expect(options, 'counts()');
    return (await this.#engine.store.counts({ tenantId: options.tenantId ?? null })).counts;
  }

  /** Effects that nobody knows the outcome of, and whose jobs wait for an operator. */
  async unknownEffects(options: OfTenant = {}): Promise<UnknownEffect[]> {
    OF_TENANT.expect(options, 'unknownEffects()');
    return unknownEffects(this.#engine, options.tenantId ?? null);
  }

  /** Decides on an effect of unknown outcome that a job is parked on. With `entry`, only if that is the one which was looked into. */
  async resolveEffect(jobId: string, options: EffectRef & By & EffectDecision): Promise<void> {
    RESOLVE.expect(options, 'resolveEffect()');
    const { step, occurrence = 1, entry = null, by: who, ...decision } = options;
    const verdict =
      decision.verdict === 'happened'
        ? ({ kind: 'happened', result: toJsonText(decision.result, 'the result of the effect') } as const)
        : ({ kind: decision.verdict } as const);
    const authority = { tenantId: null, actor: `operator:${who}` };
    await resolveEffect(this.#engine, { jobId, step, occurrence, entry, verdict }, authority);
  }

  /** Lets a job go on that was parked because its handler had left its history. */
  async resume(jobId: string, options: By): Promise<void> {
    BY.expect(options, 'resume()');
    await resumeParked(this.#engine, jobId, { tenantId: null, actor: `operator:${options.by}` });
  }

  /** Gives up a job that is running, retrying or interrupted. It ends in the dead letters, from where it can be requeued. */
  async abandon(jobId: string, options: Abandon): Promise<void> {
    ABANDON.expect(options, 'abandon()');
    const { by, reason } = options;
    await abandonJob(this.#engine, jobId, { tenantId: null, actor: `operator:${by}`, reason });
  }

  /**
   * Begins to work on jobs, until `stop`. One that could not begin may be asked to again. Under a name of its own (`workerId`) it begins
   * once the last worker of this application has stopped: two of one name take each other's jobs.
   */
  async work(options: WorkOptions = {}): Promise<void> {
    this.#expectOpen();
    const asked = readWorkOptions(options, { namedUnder: this.#session?.namedUnder ?? '' });
    if (this.#working === null) {
      const { worker, drainMs } = this.#newWorker(options, asked);
      if (options.stopOnSignal ?? true) this.#forgetSignals = stopOnSignal(() => this.stop());
      const mayBegin = options.workerId === undefined ? null : Promise.allSettled([this.#stopped]);
      const begun = mayBegin ? mayBegin.then(() => worker.start()) : worker.start();
      const started = begun.catch((error: unknown) => {
        if (this.#working?.worker === worker) this.#forgetWorker();
        throw error;
      });
      this.#working = { worker, drainMs, started };
    }
    await this.#working.started;
  }

  #newWorker(
    { onStopped }: WorkOptions,
    { drainMs, ...read }: ReturnType<typeof readWorkOptions>,
  ): Omit<Working, 'started'> {
    const worker = new Worker(this.#engine, {
      ...read,
      tasks: this.#tasks.map(({ definition }) => definition),
      namedUnder: this.#session?.namedUnder ?? '',
      upkeep: this.#session === null,
      hooks: this.#hooks,
      tracing: this.#tracing,
      retention: this.#retention,
      onStopped: (error) => {
        this.#engine.log.error('the worker stops', { error });
        void this.stop();
        onStopped?.(error);
      },
    });
    return { worker, drainMs };
  }

  /**
   * Stops working: no new jobs, and those that run end or are handed back. Safe to call twice, or before `work`: whoever
   * asks again waits for the same end.
   */
  async stop(): Promise<void> {
    const working = this.#working;
    this.#forgetWorker();
    if (working !== null) {
      const { worker, drainMs } = working;
      const all = Promise.all([this.#stopped, worker.stop({ drainMs })]);
      this.#stopped = all.then((inTime) => inTime.every(Boolean));
    }
    await this.#stopped;
  }

  #forgetWorker(): void {
    this.#working = null;
    this.#forgetSignals();
  }

  /** Stops, waits for calls under way, and lets go of the store: every call after that throws APP_CLOSED. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await this.stop();
    const { alarms, store, storeCalls } = this.#engine;
    // One that has kept the worker waiting in vain answers nobody else, either.
    if (await this.#stopped) await atMost(alarms, LAST_CALLS_MS, storeCalls.allEnded());
    alarms.stop();
    storeCalls.close();
    await store.close();
  }

  #expectOpen(): void {
    if (this.#closed !== null)
      throw new PawlError('APP_CLOSED', { detail: 'it cannot start or run jobs any more' });
  }

  #handle<R>({ job, idempotentHit }: Started): Start<R> {
    const { jobId, tenantId } = job.spec;
    return { job: new JobHandle<R>(this.#engine, { jobId, tenantId }), idempotentHit };
  }
}
