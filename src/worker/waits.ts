import { PawlError } from '../errors.js';
import { stepKey, type JsonText, type Wait, type WaitOutcome } from '../kernel/index.js';
import { rejectionError } from '../engine/rejection-error.js';
import { readTogether } from '../engine/read-together.js';
import type { Execution } from './execution.js';

export type WaitEnd = { readonly outcome: WaitOutcome; readonly payload: JsonText | null };

type Pending = {
  readonly wait: Wait;
  readonly resolve: (end: WaitEnd) => void;
  readonly reject: (error: PawlError) => void;
  cancelAlarm: (() => void) | null;
};

const NOTHING_UNREAD: ReadonlyMap<string, JsonText> = new Map();

/**
 * What a handler waits for. While something else of it runs, it keeps its lease and hears of what arrives; once nothing
 * does, the job gives up its lease until one of the waits ends, and the handler is run again from its history.
 */
export class Waits {
  readonly #execution: Execution;
  readonly #pending = new Map<string, Pending>();
  /** What was in the inbox when it was read: what no wait asked for then, a later one may. */
  #unread: ReadonlyMap<string, JsonText> = NOTHING_UNREAD;
  /** How much of the inbox has been read; -1 after word of something new. */
  #readTo = 0;
  #considering = false;

  constructor(execution: Execution) {
    this.#execution = execution;
    // An attempt may end long before what it waited for does: nothing of it must be kept until then.
    void execution.attempt.ended.then(() => this.#cancelAlarms());
  }

  async wait(asked: Wait): Promise<WaitEnd> {
    const { attempt, replay } = this.#execution;
    const there = attempt.steps.get(asked);
    if (there !== undefined && there.kind !== 'wait')
      return replay.leave(asked, `history has a step of another kind there (${there.kind})`);
    if (there !== undefined && there.wait.key !== asked.key)
      return replay.leave(asked, `history has a wait for '${there.wait.key}' there`);
    const known = attempt.steps.waitFor(asked.key);
    const mine = known !== undefined && stepKey(known.wait) === stepKey(asked);
    // Of what came before a checkpoint names are left, and a key that people answer is its step's.
    const isTaken = known === undefined ? attempt.steps.isBeforeCheckpoint(asked.key) : !mine;
    if (isTaken || this.#pending.has(asked.key)) throw keyReused(asked);
    if (mine && known.outcome !== null) {
      await replay.deliver(asked);
      return { outcome: known.outcome, payload: known.payload };
    }
    return this.#begin(known?.wait ?? asked);
  }

  get isWaiting(): boolean {
    return this.#pending.size > 0;
  }

  /** There may be something new in the inbox. */
  hear(): void {
    this.#readTo = -1;
    if (this.#pending.size > 0) this.#consumeLogged();
  }

  /** Gives up the lease if the handler is still idle once everything that is ready to run has run. */
  considerSuspending(): void {
    const execution = this.#execution;
    if (this.#considering || this.#pending.size === 0 || !execution.isIdle) return;
    this.#considering = true;
    setImmediate(() => {
      this.#considering = false;
      if (this.#pending.size === 0 || !execution.isIdle || execution.attempt.isOver) return;
      this.#suspend().catch((error: unknown) => this.#refuse(error));
    });
  }

  #begin(wait: Wait): Promise<WaitEnd> {
    return new Promise((resolve, reject) => {
      // Nobody waits for it any more.
      if (this.#execution.attempt.isOver) return;
      const pending: Pending = { wait, resolve, reject, cancelAlarm: null };
      this.#pending.set(wait.key, pending);
      this.#setAlarm(pending);
      this.considerSuspending();
    });
  }

  /** The store's clock may turn out to be behind what it seemed to be when the alarm was set: then it is set again. */
  #setAlarm(pending: Pending): void {
    const { engine } = this.#execution;
    const { expiresAt } = pending.wait;
    if (expiresAt === null) return;
    pending.cancelAlarm = engine.alarms.set(expiresAt - engine.now(), () => {
      if (engine.now() < expiresAt) this.#setAlarm(pending);
      else this.#consumeLogged();
    });
  }

  #consumeLogged(): void {
    this.#consume().catch((error: unknown) => this.#refuse(error));
  }

  async #suspend(): Promise<void> {
    const { attempt, replay } = this.#execution;
    if (await this.#consume()) return;
    const [first] = this.#pending.values();
    if (first === undefined) return;
    if (!replay.isCaughtUp) {
      // Then the handler has something to go on with, and whether it is idle is considered anew.
      await this.#execution.during(() => replay.caughtUp(first.wait));
      return;
    }
    const waits = [...this.#pending.values()].map(({ wait }) => wait);
    const inboxRev = Math.max(attempt.inboxRev, this.#readTo);
    const answer = await this.#execution.ask(
      { type: 'begin-wait', waits },
      { alone: true, extras: { inboxRev } },
    );
    if (answer === 'moved') {
      this.#readTo = -1;
      this.considerSuspending();
    } else if (!answer.ok) {
      throw rejectionError(answer, 'wait');
    }
  }

  #cancelAlarms(): void {
    for (const { cancelAlarm } of this.#pending.values()) cancelAlarm?.();
  }

  /** Takes what has arrived or run out. True if the handler can go on with some of it. */
  async #consume(): Promise<boolean> {
    return this.#execution.during(async () => {
      const { attempt, replay } = this.#execution;
      let ends = this.#isAnswered() ? this.#ends() : [];
      if (ends.length === 0) {
        await this.#readInbox();
        ends = this.#ends();
      }
      const inboxRev = Math.max(attempt.inboxRev, this.#readTo);
      const [first] = ends;
      if (first === undefined) return false;
      // It may have ended long ago, while nobody held the job: in a race it still comes after what is recorded.
      await replay.caughtUp(first[0]);
      await Promise.all(ends.map(([wait, end]) => this.#complete(wait, end, inboxRev)));
      return true;
    });
  }

  /** What was read has an answer for each wait that a message may end. What else has come is read once somebody waits for it. */
  #isAnswered(): boolean {
    for (const { wait } of this.#pending.values())
      if (wait.kind !== 'timer' && !this.#unread.has(wait.key)) return false;
    return true;
  }

  /** What of the waits is over, by the inbox as it was read. */
  #ends(): [Wait, WaitEnd][] {
    const { engine } = this.#execution;
    return [...this.#pending.values()].flatMap(({ wait }): [Wait, WaitEnd][] => {
      const payload = this.#unread.get(wait.key);
      if (payload !== undefined) return [[wait, { outcome: 'received', payload }]];
      if (wait.expiresAt === null || wait.expiresAt > engine.now()) return [];
      return [[wait, { outcome: wait.kind === 'timer' ? 'elapsed' : 'timeout', payload: null }]];
    });
  }

  /** That nothing has come is true only of the inbox as it was read: a signal that was accepted since is to be heard. */
  async #complete(wait: Wait, { outcome, payload }: WaitEnd, inboxRev: number): Promise<void> {
    const pending = this.#pending.get(wait.key);
    if (pending === undefined || outcome === 'deadline') return;
    this.#pending.delete(wait.key);
    pending.cancelAlarm?.();
    const consumed = outcome === 'received' ? [wait.key] : [];
    const answer = await this.#execution.ask(
      { type: 'consume-wait', wait, outcome, payload },
      outcome === 'timeout' ? { alone: true, extras: { inboxRev } } : { extras: { consumed } },
    );
    if (answer === 'moved') {
      this.#pending.set(wait.key, pending);
      this.#setAlarm(pending);
      this.#readTo = -1;
      await this.#consume();
    } else if (answer.ok) {
      pending.resolve({ outcome, payload });
    } else {
      const error = rejectionError(
        answer,
        `do 'consume-wait' in job ${this.#execution.attempt.job.spec.jobId}`,
      );
      if (error.retryable) throw error;
      // It is no longer among those that `#refuse` would tell.
      pending.reject(error);
    }
  }

  async #readInbox(): Promise<void> {
    const { attempt } = this.#execution;
    if (this.#readTo < attempt.inboxRev) await this.#readAgain();
  }

  /** A message that was consumed since may still be in it; no other wait can ask for its key. */
  readonly #readAgain = readTogether(async () => {
    const { attempt, engine } = this.#execution;
    const { messages, inboxRev } = await this.#execution.read(() =>
      engine.store.inbox(attempt.job.spec.jobId),
    );
    this.#readTo = inboxRev;
    this.#unread = new Map(messages.map(({ key, payload }) => [key, payload]));
  });

  /** Something about these waits is wrong. Each of them tells the handler so. */
  #refuse(error: unknown): void {
    const { engine, attempt } = this.#execution;
    if (!(error instanceof PawlError) || error.retryable) {
      engine.log.error('a wait broke off', { jobId: attempt.job.spec.jobId, error });
      attempt.lose('its waits cannot be saved');
      return;
    }
    const waiting = [...this.#pending.values()];
    this.#cancelAlarms();
    this.#pending.clear();
    for (const { reject } of waiting) reject(error);
  }
}

function keyReused({ key, step }: Wait): PawlError {
  return new PawlError('WAIT_KEY_REUSED', {
    detail: `step '${step}' waits for '${key}', which an earlier wait of this job has used`,
    details: { key, step },
  });
}
