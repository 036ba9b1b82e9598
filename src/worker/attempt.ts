import { PawlError, type ErrorCode } from '../errors.js';
import {
  decide,
  evolve,
  StepLog,
  type Command,
  type Decision,
  type Event,
  type Job,
} from '../kernel/index.js';
import { consequencesOf } from '../engine/consequences.js';
import type { Engine } from '../engine/engine.js';
import { failureOf } from '../engine/failure-of.js';
import { prepareCommit, type Extras } from '../engine/prepare-commit.js';
import { hearSubscribers, tellOne } from '../engine/send.js';
import type { CommitItem, CommitReply, Loaded } from '../ports/store.js';
import { endOf, type AttemptEnd } from './attempt-end.js';
import { commitName } from './names.js';
import type { Replay } from './replay.js';
import { extrasOf } from './commit-extras.js';
import type { Answer, Asked, Decided, GiveOptions, HeldCommand } from './held-command.js';
import { takeBatch } from './take-batch.js';

/**
 * One claim of a job, as its holder sees it. It alone appends to the job, one commit at a time: what is asked for
 * meanwhile goes together into the next. It never works from a newer state than its own; a commit that meets another's
 * means that the job is lost to it.
 */
export class Attempt {
  readonly attemptId: string;
  readonly #engine: Engine;
  readonly #actor: string;
  /** Made when someone asks for its signal: most handlers never do. */
  #abort: AbortController | null = null;
  #endReason = '';
  readonly #queue: Asked[] = [];
  #head: Loaded;
  #steps: StepLog;
  #replay: Replay;
  #commits = 0;
  #sending = false;
  #isRefused = false;
  #end: AttemptEnd | null = null;
  #tellEnd!: (end: AttemptEnd) => void;
  /** Settled once the attempt can write no more. */
  readonly ended: Promise<AttemptEnd>;

  constructor(engine: Engine, head: Loaded, { steps, replay }: { steps: StepLog; replay: Replay }) {
    this.#engine = engine;
    this.#head = head;
    this.#steps = steps;
    this.#replay = replay;
    this.attemptId = head.job.attemptId ?? '';
    this.#actor = `worker:${head.job.worker?.id ?? ''}`;
    this.ended = new Promise((resolve) => {
      this.#tellEnd = resolve;
    });
  }

  /** Before its handler runs: with what was recorded until now. */
  follow(replay: Replay): void {
    this.#replay = replay;
  }

  get job(): Job {
    return this.#head.job;
  }

  get inboxRev(): number {
    return this.#head.inboxRev;
  }

  get steps(): StepLog {
    return this.#steps;
  }

  get signal(): AbortSignal {
    if (this.#abort === null) {
      this.#abort = new AbortController();
      if (this.isOver) this.#abort.abort(new DOMException(this.#endReason, 'AbortError'));
    }
    return this.#abort.signal;
  }

  /** A commit is under way, whose answer will tell how things stand. */
  get isSending(): boolean {
    return this.#sending;
  }

  get isOver(): boolean {
    return this.#end !== null;
  }

  /** `hear` is told the answer to a command, once it is saved, in the order of the log: never, when the attempt ends before that. */
  give(command: HeldCommand, options: GiveOptions = PLAINLY, hear: (answer: Answer) => void = ignore): void {
    this.#queue.push({ command, options, hear });
    if (this.#sending || this.isOver) return;
    this.#sending = true;
    this.#sendNext();
  }

  /** To whoever claims it next. */
  handBack(): void {
    if (!this.isOver) this.give({ type: 'interrupt', cause: { reason: 'drained' } });
  }

  /** Whoever still runs for it is told to stop. What it has not saved is lost, and somebody else's to do. */
  lose(reason: string): void {
    this.#finish('lost', reason);
  }

  /** While it is held, what it sends is sent again. */
  goOn(): boolean {
    return !this.isOver;
  }

  /** What waits goes into the next commit, and what comes meanwhile into the one behind it. Never throws. */
  #sendNext({ hasHeard = false } = {}): void {
    try {
      while (this.#queue.length > 0 && !this.isOver) {
        if (!hasHeard && this.#engine.subscriptions.isStale && this.#queue.some(movesJob)) {
          const heard = (): void => this.#sendNext({ hasHeard: true });
          void hearSubscribers(this.#engine, this).then(heard, this.#failed());
          return;
        }
        const batch = takeBatch(this.#queue);
        const decided = this.#decide(batch);
        if (decided.events.length > 0) {
          const prepared = this.#prepare(batch, decided);
          if (prepared instanceof Promise)
            void prepared.then((item) => this.#save(item, batch, decided)).catch(this.#failed());
          else this.#save(prepared, batch, decided);
          return;
        }
        this.#answer(batch, decided.decisions);
      }
      this.#sending = false;
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Without promises of its own, which took three hundredths of the time of five steps. */
  #save(item: CommitItem, batch: readonly Asked[], decided: Decided): void {
    const hear = (reply: CommitReply | null): void => {
      if (!this.isOver && this.#hear(reply, batch)) {
        this.#advance(item, decided);
        this.#answer(batch, decided.decisions);
      }
      this.#sendNext();
    };
    const save = batch[0]?.options.save;
    if (this.isOver) this.#sending = false;
    else if (save) void save(item).then(hear).catch(this.#failed());
    else tellOne(this.#engine, item, { patience: this, hear, fail: this.#failed() });
  }

  #answer(batch: readonly Asked[], decisions: readonly Decision[]): void {
    for (let index = 0; index < batch.length; index++) {
      const decision = decisions[index] as Decision;
      // What came behind the attempt's end is refused for that alone. A handler must not take it for a failure of its own.
      const hear = batch[index]?.hear;
      if (!hear) continue;
      if (decision.ok) this.#replay.tell(hear, decision);
      else if (!this.isOver) this.#replay.tellRefusal(hear, decision);
    }
  }

  /** Whether the commit went through. If not, whoever asked for it is told, or the job is lost. */
  #hear(reply: CommitReply | null, [first]: readonly Asked[]): boolean {
    if (reply?.ok) return true;
    if (reply === null || reply.code === 'INBOX_MOVED' || reply.code === 'RESULT_STORED') {
      first?.hear({ ok: false, code: 'MOVED' });
    } else {
      this.#engine.meters.fencedWrites += 1;
      this.lose(`the job went on without this attempt (${reply.code})`);
    }
    return false;
  }

  /** One after the other, each on what the ones before it make of the job. One that goes alone is applied once it is saved. */
  #decide(batch: readonly Asked[]): Decided {
    const [first] = batch;
    const now = this.#engine.now();
    if (batch.length === 1 && first) return this.#decideOne(first, now);
    let after = this.job;
    const decisions: Decision[] = [];
    const commands: Command[] = [];
    const events: Event[] = [];
    for (const { command: asked } of batch) {
      const command = this.#command(asked, now);
      const decision = decide(after, command, this.#steps);
      decisions.push(decision);
      if (!decision.ok || decision.events.length === 0) continue;
      commands.push(command);
      events.push(...decision.events);
      after = this.#apply(after, decision.events);
    }
    return { decisions, commands, events, after };
  }

  /** The same of one by itself, as nearly all are. */
  #decideOne({ command: asked, options }: Asked, now: number): Decided {
    const command = this.#command(asked, now);
    const decision = decide(this.job, command, this.#steps);
    const events = decision.ok ? decision.events : NO_EVENTS;
    const after = options.alone ? null : this.#apply(this.job, events);
    return { decisions: [decision], commands: [command], events, after };
  }

  /** Spread last: what is added behind a spread costs Node 20 three microseconds, more than deciding does (decision 38). */
  #command(asked: HeldCommand, now: number): Command {
    return { now, actor: this.#actor, attemptId: this.attemptId, ...asked };
  }

  #apply(before: Job, events: readonly Event[]): Job {
    let job = before;
    for (const event of events) {
      // Behind a checkpoint nobody asks for what came before it.
      if (event.type === 'checkpoint.saved') this.#steps = new StepLog();
      this.#steps.apply(job, event);
      job = evolve(job, event);
    }
    return job;
  }

  #prepare(batch: readonly Asked[], decided: Decided): CommitItem | Promise<CommitItem> {
    this.#commits += 1;
    const commandId = commitName(this.attemptId, this.#commits);
    const ending = consequencesOf(this.#engine, this.#head, decided.events);
    return ending instanceof Promise
      ? ending.then((consequences) => this.#itemOf(commandId, batch, decided, consequences))
      : this.#itemOf(commandId, batch, decided, ending);
  }

  #itemOf(commandId: string, batch: readonly Asked[], decided: Decided, ending: Extras): CommitItem {
    const { events, commands, decisions } = decided;
    const { jobId } = this.job.spec;
    const extras = extrasOf(this.attemptId, { batch, decisions, ending });
    return prepareCommit(this.#head, { jobId, commandId, events, commands }, extras);
  }

  #advance(item: CommitItem, { events, after }: Decided): void {
    const { link, rev, outbox, job: saved } = item;
    const applied = after ?? this.#apply(this.job, events);
    const job = saved ?? { ...applied, rev };
    this.#head = { job, link, inboxRev: this.#head.inboxRev };
    this.#engine.meters.committed(job.spec.tenantId, events, item);
    this.#engine.announceMail(outbox);
    const end = endOf(events);
    if (end === null) return;
    this.#engine.announce(job);
    this.#finish(end, end);
  }

  #finish(end: AttemptEnd, reason: string): void {
    if (this.isOver) return;
    this.#end = end;
    this.#endReason = reason;
    this.#tellEnd(end);
    this.#abort?.abort(new DOMException(reason, 'AbortError'));
  }

  #failed(): (error: unknown) => void {
    return (error) => this.#fail(error);
  }

  #fail(error: unknown): void {
    const { jobId } = this.job.spec;
    const isPassing = error instanceof PawlError && (error.retryable || PASSING.has(error.code));
    if (!(this.isOver && isPassing))
      this.#engine.log.error('an attempt broke off', { jobId, attemptId: this.attemptId, error });
    if (error instanceof PawlError && !isPassing && !this.isOver && !this.#isRefused) this.#endRefused(error);
    else this.lose('its commits cannot be saved');
  }

  /**
   * What is refused for what it says would be refused to every attempt: it costs this one, so that none of them goes on for ever. Another
   * may do better, with another server or in another order.
   */
  #endRefused(error: PawlError): void {
    this.#isRefused = true;
    const failure = { ...failureOf(error), retryable: true, class: 'transient' } as const;
    const command = { type: 'fail-attempt', failure } as const;
    this.#queue.splice(0, Infinity, { command, options: PLAINLY, hear: ignore });
    this.#sendNext();
  }
}

/** No fault of the attempt: a server of another release, for one, is there while a new one is rolled out. The job waits for its turn to come again. */
const PASSING: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['APP_CLOSED', 'COMMIT_DIFFERS']);

const PLAINLY: GiveOptions = {};
const NO_EVENTS: readonly Event[] = [];
const ignore = (): void => undefined;
/** Who hears of it is looked up before. Results of steps come by the thousand, and wait for no such look. */
const movesJob = ({ command }: Asked): boolean => command.type !== 'record-step';
