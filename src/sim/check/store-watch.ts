import { isTerminal, laneOf, type Job } from '../../kernel/index.js';
import type { Tables } from '../../stores/memory/tables.js';
import type { Store, WorkerEntry } from '../../ports/store.js';
import type { Call } from '../network.js';
import type { Host } from '../host.js';
import { KEY_LIMIT, RATE } from '../workload/tasks.js';
import type { World } from '../world.js';
import { EffectWatch } from './effect-watch.js';
import { JobWatch, type Seen, type WatchParts } from './job-watch.js';
import { storyOf } from './story-of.js';

type StoreWatchParts = WatchParts & {
  readonly world: World;
  readonly now: () => number;
  /** How long finished jobs are to be kept. */
  readonly keepMs: number | null;
};

/** Looks at the store after every call that it executed: all that concerns more than one job, and leases. */
export class StoreWatch {
  readonly jobs = new Map<string, JobWatch>();
  /** Jobs that have not ended. */
  readonly live = new Set<string>();
  readonly purged = new Set<string>();
  readonly effects: EffectWatch;
  /** When an attempt has last ended, well or badly: retries are counted. */
  endedAt = 0;
  readonly #parts: StoreWatchParts;
  /** Which process an incarnation belongs to. */
  readonly #hosts = new Map<string, Host>();
  readonly #leases = new Map<string, WorkerEntry>();
  readonly #keys = new Map<string, string>();
  readonly #begun: number[] = [];
  /** Dead letters that nobody has dealt with. They go with their jobs, so what they were before counts. */
  #openLetters: ReadonlySet<string> = new Set();
  #position = 0;

  constructor(parts: StoreWatchParts) {
    this.#parts = parts;
    this.effects = new EffectWatch({
      verdict: parts.verdict,
      hostOf: (incarnation) => this.hostOf(incarnation),
      holdsLease: (incarnation) => {
        const lease = parts.tables.leases.get(incarnation);
        return lease !== undefined && !lease.dead && lease.leaseUntil > parts.now();
      },
      holderOf: (jobId) => this.hostOf(this.jobOf(jobId)?.worker?.incarnation ?? ''),
    });
  }

  get tables(): Tables {
    return this.#parts.tables;
  }

  /** What the log holds, of every job that was ever there. */
  jobOf(jobId: string): Job | null {
    return this.jobs.get(jobId)?.job ?? null;
  }

  hostOf(incarnation: string): Host | null {
    return this.#hosts.get(incarnation) ?? null;
  }

  /** After a call was executed. */
  look({ name, host, asked }: Call): void {
    this.#parts.hits.add('call', name);
    if (name === 'beat') {
      const [{ worker }] = asked as [{ worker: { incarnation: string } }];
      this.#hosts.set(worker.incarnation, host);
    }
    if (name === 'beat' || name === 'orphans' || name === 'resign') this.#lookAtLeases(name);
    if (name === 'purge') this.#lookAtPurged();
    if (name === 'commit' || name === 'putDlqItem') this.#lookAtLetters();
    const { feed, lastPosition } = this.tables;
    if (lastPosition === this.#position) return;
    const fresh = [];
    for (let at = feed.length - 1; at >= 0; at--) {
      const row = feed[at];
      if (row === undefined || row.position <= this.#position) break;
      fresh.push(row);
    }
    this.#position = lastPosition;
    for (const row of fresh.toReversed()) {
      this.#parts.world.tell(() => `${host.name} '${name}': ${storyOf(row)}`);
      this.#watchOf(row.jobId).take(row, this.#parts.now());
    }
  }

  #watchOf(jobId: string): JobWatch {
    let watch = this.jobs.get(jobId);
    if (watch === undefined) {
      watch = new JobWatch(jobId, this.#parts, (seen) => this.#event(seen));
      this.jobs.set(jobId, watch);
    }
    return watch;
  }

  #event({ before, event, after }: Seen): void {
    const { jobId } = after.spec;
    if (isTerminal(after.status)) this.live.delete(jobId);
    else this.live.add(jobId);
    if (event.type === 'attempt.failed' || isTerminal(after.status)) this.endedAt = this.#parts.now();
    switch (event.type) {
      case 'job.created':
        this.#expectOwnKey(after);
        if (event.spec.continues !== null) {
          const who = event.spec.parent === null ? 'a job' : 'a child';
          this.#parts.hits.add('feature', `${who} goes on with another`);
        }
        return;
      case 'attempt.started':
        if (event.actor !== 'recovery') this.#expectWithinLimits(after);
        this.#expectAlive(after);
        return;
      case 'attempt.interrupted':
        if (event.reason === 'lease_expired' && before !== null) this.#expectOver(before);
        return;
      case 'effect.intended':
        this.effects.intended(jobId, event, after.worker?.incarnation ?? '');
        return;
      case 'effect.closed':
        this.effects.closed(jobId, event);
        return;
      case 'effect.reconciled':
        if (event.verdict === 'notHappened') this.effects.closed(jobId, event);
        return;
      default:
        return;
    }
  }

  #expectOwnKey({ spec }: Job): void {
    const { jobId, tenantId, idempotencyKey, idempotencyScope, firedBy } = spec;
    const keys =
      idempotencyKey === jobId ? [] : [JSON.stringify([tenantId, idempotencyScope, idempotencyKey])];
    if (firedBy !== null) keys.push(JSON.stringify([tenantId, firedBy.scheduleId, firedBy.fireAt]));
    for (const key of keys) {
      const owner = this.#keys.get(key);
      this.#parts.verdict.expect(
        owner === undefined,
        10,
        () => `${key} belongs to ${owner}, and to ${jobId} too`,
      );
      this.#keys.set(key, jobId);
    }
  }

  #expectWithinLimits({ spec, status }: Job): void {
    const { verdict, now, tables } = this.#parts;
    verdict.expect(
      !tables.paused.has(spec.queue),
      11,
      () => `${spec.jobId} was claimed from queue '${spec.queue}', which is paused`,
    );
    const held = tables.jobs.get(spec.jobId)?.held ?? null;
    verdict.expect(held === null, 11, () => `${spec.jobId} was claimed, and is held`);
    if (spec.concurrencyKey !== null && status === 'running') {
      const running = [...this.jobs.values()].filter(
        ({ job }) =>
          job?.status === 'running' &&
          job.spec.concurrencyKey === spec.concurrencyKey &&
          job.spec.tenantId === spec.tenantId &&
          laneOf(job.spec) === laneOf(spec),
      );
      verdict.expect(
        running.length <= KEY_LIMIT,
        11,
        () => `${running.length} jobs with key ${spec.concurrencyKey} run at once`,
      );
      if (running.length === KEY_LIMIT) this.#parts.hits.add('feature', 'a full concurrency key');
    }
    if (spec.task === 'rated') {
      this.#begun.push(now());
      const within = this.#begun.filter((at) => at > now() - RATE.perMs);
      verdict.expect(
        within.length <= RATE.limit,
        11,
        () => `${within.length} jobs began within ${RATE.perMs} ms`,
      );
      if (within.length === RATE.limit) this.#parts.hits.add('feature', 'a rate used up');
    }
  }

  #expectAlive({ worker, spec }: Job): void {
    if (worker === null || worker.id === 'recovery') return;
    const lease = this.tables.leases.get(worker.incarnation);
    this.#parts.verdict.expect(
      lease?.dead === false,
      6,
      () => `${spec.jobId} was claimed by ${worker.incarnation}, which is dead`,
    );
  }

  #expectOver({ worker, spec }: Job): void {
    const lease = this.tables.leases.get(worker?.incarnation ?? '');
    const isOver = lease === undefined || lease.dead || lease.leaseUntil <= this.#parts.now();
    this.#parts.verdict.expect(
      isOver,
      6,
      () => `${spec.jobId} was taken from ${worker?.incarnation}, whose lease stands`,
    );
  }

  /** A lease that is dead stays so, and dies only after its time, with a successor, or by resigning with empty hands. */
  #lookAtLeases(call: keyof Store): void {
    const { verdict, now } = this.#parts;
    for (const [incarnation, lease] of this.tables.leases) {
      const before = this.#leases.get(incarnation);
      if (before === lease) continue;
      this.#leases.set(incarnation, lease);
      if (before === undefined) continue;
      verdict.expect(!(before.dead && !lease.dead), 6, () => `${incarnation} was dead, and is alive again`);
      verdict.expect(
        before.leaseUntil <= lease.leaseUntil,
        6,
        () => `the lease of ${incarnation} was cut short`,
      );
      if (before.dead || !lease.dead || before.leaseUntil <= now()) continue;
      const successor = [...this.tables.leases.values()].some(
        ({ worker }) => worker.id === lease.worker.id && worker.incarnation > incarnation,
      );
      const resigned = call === 'resign' && !this.#holdsJobs(incarnation);
      verdict.expect(successor || resigned, 6, () => `${incarnation} was declared dead before its time`);
    }
  }

  #holdsJobs(incarnation: string): boolean {
    return [...this.live].some((jobId) => this.jobOf(jobId)?.worker?.incarnation === incarnation);
  }

  #lookAtLetters(): void {
    const open = [...this.tables.dlq.values()].filter(({ status }) => status === 'open');
    this.#openLetters = new Set(open.map(({ dlqId }) => dlqId));
  }

  #lookAtPurged(): void {
    const { verdict, tables, keepMs } = this.#parts;
    for (const [jobId, { job }] of this.jobs) {
      if (tables.jobs.has(jobId) || this.purged.has(jobId) || job === null) continue;
      this.purged.add(jobId);
      verdict.expect(isTerminal(job.status), 1, () => `${jobId} was purged while it was ${job.status}`);
      const age = this.#parts.now() - (job.finishedAt ?? 0);
      verdict.expect(
        age > (keepMs ?? Number.POSITIVE_INFINITY),
        1,
        () => `${jobId} was purged ${age} ms after its end`,
      );
      const isOpen = this.#openLetters.has(job.deadLetter?.dlqId ?? '');
      verdict.expect(!isOpen, 17, () => `${jobId} was purged, and its dead letter was open`);
      this.#parts.hits.add('feature', 'purge');
    }
  }
}
