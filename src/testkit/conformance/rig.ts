import { fail, ok } from 'node:assert/strict';
import { prepareCommit, type Extras } from '../../engine/prepare-commit.js';
import {
  changesOf,
  decide,
  decodeEvents,
  laneOf,
  openDlqItem,
  StepLog,
  type Command,
  type Commit,
  type Job,
  type JobSpec,
  type RateLimit,
  type RejectionCode,
  type WorkerRef,
} from '../../kernel/index.js';
import type { Claimed, CommitItem, CommitReply, Loaded, Store } from '../../ports/store.js';
import { fakeClock, type FakeClock } from '../fake-clock.js';
import { command } from '../sample-commands.js';
import { aJobSpec, T0 } from '../sample-job.js';

/** Opens a store on this clock. `name` tells stores of one case apart: the same name opens the same data again. */
export type OpenStore = ((options: { clock: FakeClock; name: string }) => Promise<Store>) & {
  /** Breaks every connection that is open to what it opened. Not for stores that have none. */
  readonly cut?: () => Promise<void>;
};

/** What a worker of a case is called in full, where a store lets nobody use any name. */
export type RigOptions = { readonly workerId?: (name: string) => string };

/** A store under test, with what it takes to give commands to its jobs: load, decide, commit. */
export class Rig {
  readonly clock = fakeClock(T0);
  readonly #open: OpenStore;
  readonly #workerId: (name: string) => string;
  readonly #opened: Store[] = [];
  #commands = 0;
  #claims = 0;
  store!: Store;

  private constructor(open: OpenStore, { workerId = (name) => name }: RigOptions) {
    this.#open = open;
    this.#workerId = workerId;
  }

  static async start(open: OpenStore, options: RigOptions = {}): Promise<Rig> {
    const rig = new Rig(open, options);
    rig.store = await rig.connect();
    return rig;
  }

  /** Another connection to the same data, or to others of this name. */
  async connect(name = 'main'): Promise<Store> {
    const store = await this.#open({ clock: this.clock, name });
    this.#opened.push(store);
    return store;
  }

  async disconnect(store: Store): Promise<void> {
    const place = this.#opened.indexOf(store);
    ok(place >= 0, 'the store was not opened here');
    this.#opened.splice(place, 1);
    await store.close();
  }

  /** Breaks the store's connections. */
  async cut(): Promise<void> {
    ok(this.#open.cut, 'the opener does not say how to cut a connection');
    await this.#open.cut();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#opened.map((store) => store.close()));
  }

  /** A worker of this name, in its first life. */
  worker(name: string): WorkerRef {
    const id = this.#workerId(name);
    return { id, incarnation: `${id}.1` };
  }

  async load(jobId: string): Promise<Loaded> {
    const { found } = await this.store.load(jobId);
    ok(found, `job ${jobId} is not there`);
    return found;
  }

  /** Every commit of a job, read back from its log. */
  async commits(jobId: string): Promise<Commit[]> {
    const { rows } = await this.store.log(jobId, { fromRev: 1, limit: 100_000 });
    return rows.map(({ rev, body }) => {
      const decoded = decodeEvents(body);
      return decoded.ok ? { jobId, rev, events: decoded.events } : fail(decoded.problem);
    });
  }

  /** Works out what a command comes to, without saving it. */
  async prepare(jobId: string, given: Command, extras: Extras = {}): Promise<CommitItem> {
    const prepared = await this.#prepare(jobId, given, extras);
    return typeof prepared === 'string' ? fail(`${given.type} was refused: ${prepared}`) : prepared;
  }

  async give(jobId: string, given: Command, extras: Extras = {}): Promise<CommitReply> {
    const { replies } = await this.store.commit([await this.prepare(jobId, given, extras)]);
    return replies[0] ?? fail('no reply');
  }

  /** Gives a command that may be refused, by the kernel with a code or by the store with a reply. */
  async tryToGive(jobId: string, given: Command): Promise<string | CommitReply> {
    const prepared = await this.#prepare(jobId, given, {});
    if (typeof prepared === 'string') return prepared;
    return (await this.store.commit([prepared])).replies[0] ?? fail('no reply');
  }

  /** A job that is there, due at once unless told otherwise. */
  async create(jobId: string, spec: Partial<JobSpec> = {}, extras: Extras = {}): Promise<Job> {
    const reply = await this.give(jobId, this.createCommand(jobId, spec), extras);
    ok(reply.ok, 'the job was not created');
    return (await this.load(jobId)).job;
  }

  createCommand(jobId: string, spec: Partial<JobSpec> = {}): Command {
    return command('create', { now: this.clock.now(), spec: aJobSpec({ jobId, ...spec }) });
  }

  /** Lets a worker claim, registering it first. */
  async claim(
    worker: string,
    {
      limit = 10,
      lanes = [laneOf(aJobSpec())],
      keyLimit = null,
      tenantLimit = null,
      rate = null,
      ratePerTenant = false,
      afterTenant = '',
      tenantId,
      store = this.store,
    }: ClaimOptions = {},
  ): Promise<Claimed> {
    const ref = this.worker(worker);
    await store.beat({ worker: ref, leaseMs: 30_000, lanes: [] });
    return store.claim({
      worker: ref,
      lanes: lanes.map((lane) => ({ lane, keyLimit, tenantLimit, rate, ratePerTenant })),
      limit,
      afterTenant,
      ...(tenantId === undefined ? {} : { tenantId }),
      decide: (found, now) => {
        this.#claims += 1;
        const attemptId = `${ref.incarnation}/${this.#claims}`;
        const claim = command('claim', { now, attemptId, worker: ref, actor: `worker:${ref.id}` });
        const decision = decide(found.job, claim, new StepLog());
        if (!decision.ok) return null;
        return prepareCommit(found, {
          jobId: found.job.spec.jobId,
          commandId: attemptId,
          events: decision.events,
        });
      },
    });
  }

  /** A job that a worker holds. */
  async running(jobId: string, spec: Partial<JobSpec> = {}): Promise<Job> {
    const { spec: asked } = await this.create(jobId, spec);
    const { jobs } = await this.claim('worker-a', { lanes: [laneOf(asked)] });
    return jobs.find((job) => job.spec.jobId === jobId) ?? fail(`${jobId} was not claimed`);
  }

  async #prepare(
    jobId: string,
    asked: Command,
    extras: Extras,
  ): Promise<CommitItem | RejectionCode | 'nothing to record'> {
    const { found } = await this.store.load(jobId);
    const given = asItsHolder(asked, found && found.job);
    const past = await this.commits(jobId);
    const steps = new StepLog();
    for (const { before, event } of changesOf(past)) steps.apply(before, event);
    const decision = decide(found && found.job, given, steps);
    if (!decision.ok) return decision.code;
    const { events } = decision;
    if (events.length === 0) return 'nothing to record';
    const rev = past.length + 1;
    const fails = events.some(({ type }) => type === 'dlq.recorded');
    const dlqItem = fails ? openDlqItem(changesOf([...past, { jobId, rev, events }])) : null;
    this.#commands += 1;
    const commandId =
      'attemptId' in given ? `${given.attemptId}:${this.#commands}` : `command-${this.#commands}`;
    return prepareCommit(found, { jobId, commandId, events, commands: [given] }, { dlqItem, ...extras });
  }
}

/** The samples speak in the name of the sample worker. Who hands a job back is its holder. */
function asItsHolder(given: Command, job: Job | null): Command {
  const { worker } = job ?? {};
  const isHolders =
    given.actor.startsWith('worker:') || (given.type === 'interrupt' && given.cause.reason === 'drained');
  return worker && isHolders ? { ...given, actor: `worker:${worker.id}` } : given;
}

export type ClaimOptions = {
  limit?: number;
  lanes?: readonly string[];
  keyLimit?: number | null;
  tenantLimit?: number | null;
  rate?: RateLimit | null;
  ratePerTenant?: boolean;
  afterTenant?: string;
  tenantId?: string;
  store?: Store;
};

/** One thing that every store must do. It throws where a store does not. */
export type Case = (rig: Rig) => Promise<void>;
export type Topic = { readonly name: string; readonly cases: Readonly<Record<string, Case>> };
