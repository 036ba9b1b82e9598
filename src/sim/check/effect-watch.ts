import { stepKey, type Event, type StepLog, type StepRef } from '../../kernel/index.js';
import type { Host } from '../host.js';
import type { Verdict } from '../verdict.js';

type Entry = {
  readonly jobId: string;
  readonly incarnation: string;
  readonly entry: number;
  closed: boolean;
  entered: boolean;
  /** Its own body has proof that nothing happened. */
  refused: boolean;
  /** Somebody who asked after this entry was told that nothing had happened. */
  denied: boolean;
};

/** What became of one use of an effect, by its key: in the first job that has it, and in those that go on with that. */
type Use = StepRef & { readonly jobId: string; readonly key: string; readonly entries: Entry[] };

/** Where an effect was used. */
export type UseRef = StepRef & { readonly jobId: string };

type EffectWatchParts = {
  readonly verdict: Verdict;
  readonly hostOf: (incarnation: string) => Host | null;
  /** On the store's clock. */
  readonly holdsLease: (incarnation: string) => boolean;
  /** The process that holds a job at the moment. */
  readonly holderOf: (jobId: string) => Host | null;
};

/** Follows every entry of every effect: what the logs say of it, and what is seen and said of it outside. */
export class EffectWatch {
  readonly #parts: EffectWatchParts;
  readonly #uses = new Map<string, Use>();
  readonly #keys = new Map<string, string>();

  constructor(parts: EffectWatchParts) {
    this.#parts = parts;
  }

  /** The key by which the world outside knows an effect. */
  keyOf(ref: UseRef): string | null {
    return this.#keys.get(nameOf(ref)) ?? null;
  }

  intended(jobId: string, event: Extract<Event, { type: 'effect.intended' }>, incarnation: string): void {
    const { step, occurrence, entry, effectKey: key } = event;
    const ref = { jobId, step, occurrence };
    const use = this.#uses.get(key) ?? { ...ref, key, entries: [] };
    const before = this.keyOf(ref) ?? key;
    this.#parts.verdict.expect(before === key, 8, () => `${nameOf(ref)} has another key than before`);
    this.#uses.set(key, use);
    this.#keys.set(nameOf(ref), key);
    use.entries.push({
      jobId,
      incarnation,
      entry,
      closed: false,
      entered: false,
      refused: false,
      denied: false,
    });
  }

  /** Only the proof of its own body, or word from outside about this very entry, lets an effect be entered again. */
  closed(jobId: string, event: Extract<Event, { type: 'effect.closed' | 'effect.reconciled' }>): void {
    const { verdict } = this.#parts;
    const { step, occurrence } = event;
    const use = this.#uses.get(this.keyOf({ jobId, step, occurrence }) ?? '');
    for (const entry of use?.entries ?? []) {
      if (entry.jobId !== jobId || entry.entry !== event.entry) continue;
      const where = `${nameOf({ jobId, step, occurrence })}, entry ${entry.entry},`;
      verdict.expect(!entry.closed, 8, () => `${where} was closed twice`);
      entry.closed = true;
      const isRight = event.type === 'effect.closed' ? entry.refused : entry.denied;
      verdict.expect(isRight, 8, () => `${where} was closed, and nobody had said that nothing happened`);
    }
  }

  /**
   * A body is about to run. It may only if its own intent is the latest, stands open, and was not followed before, and while
   * the lease stands under which that was saved: else somebody may be asking around. Answers with what is to be called once
   * the body has proof that nothing happened.
   */
  readonly entered = (host: Host, key: string): (() => void) => {
    const { verdict, hostOf, holdsLease } = this.#parts;
    const use = this.#uses.get(key);
    const entry = use?.entries.at(-1);
    if (use === undefined || entry === undefined) {
      verdict.breach(8, `an effect with key ${key} was entered without an intent`);
      return () => undefined;
    }
    const where = `${nameOf(use)}, entry ${entry.entry},`;
    verdict.expect(!entry.entered, 8, () => `${where} was entered twice`);
    verdict.expect(!entry.closed, 8, () => `${where} was entered after it had been closed`);
    verdict.expect(
      hostOf(entry.incarnation) === host,
      8,
      () => `${where} was entered by ${host.name}, whose it is not`,
    );
    verdict.expect(
      holdsLease(entry.incarnation),
      8,
      () => `${where} was entered after its lease had run out`,
    );
    entry.entered = true;
    return () => {
      entry.refused = true;
    };
  };

  /**
   * Somebody asks whether an effect has happened: the process that holds its job, or an operator (null). Answers with what
   * is to be called if they are told that it has not. That counts for the entry that is the latest now, and for no later one.
   */
  readonly asked = (host: Host | null, key: string): (() => void) => {
    const use = this.#uses.get(key);
    const entry = use?.entries.at(-1);
    const isHolder = host === null || (entry !== undefined && this.#parts.holderOf(entry.jobId) === host);
    return () => {
      if (entry !== undefined && isHolder) entry.denied = true;
    };
  };

  /** At the end: what the logs say happened has happened, and no more often than they allow for. */
  check(
    resultsOf: (key: string) => readonly string[],
    stepsOf: (jobId: string) => StepLog | undefined,
  ): void {
    const { verdict } = this.#parts;
    for (const use of this.#uses.values()) {
      const results = resultsOf(use.key);
      const denied = use.entries.filter((entry) => entry.closed && entry.denied).length;
      verdict.expect(
        results.length <= 1 + denied,
        8,
        () => `${nameOf(use)} happened ${results.length} times, and was denied ${denied} times`,
      );
      for (const jobId of new Set(use.entries.map((entry) => entry.jobId))) {
        const step = stepsOf(jobId)?.get(use);
        const recorded = step?.kind === 'effect' ? step.result : null;
        verdict.expect(
          recorded === null || results.includes(JSON.parse(recorded) as string),
          7,
          () => `${nameOf({ ...use, jobId })} is recorded as ${recorded}, which is not what happened`,
        );
      }
    }
  }
}

function nameOf({ jobId, step, occurrence }: UseRef): string {
  return `${jobId} ${stepKey({ step, occurrence })}`;
}
