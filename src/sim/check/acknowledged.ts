import { PawlError } from '../../errors.js';
import { dlqIdOf, type Status } from '../../kernel/index.js';
import type { Claimed, CommitItem, CommitReplies } from '../../ports/store.js';
import type { Call } from '../network.js';
import type { Verdict } from '../verdict.js';
import type { StoreWatch } from './store-watch.js';

type Start = {
  readonly tenantId: string;
  readonly scope: string | null;
  readonly key: string | null;
  readonly task: string;
  readonly idempotentHit: boolean;
  readonly input: string;
};

/** What somebody was told. It must be true, from that moment on and for ever. */
export class Acknowledged {
  readonly #watch: StoreWatch;
  readonly #verdict: Verdict;
  readonly #byKey = new Map<string, string>();
  readonly #requeued = new Map<string, string>();
  readonly #starts = new Map<string, Start>();
  readonly #cancels = new Set<string>();
  readonly #abandoned = new Set<string>();
  readonly #signals: { readonly jobId: string; readonly key: string; readonly payload: string }[] = [];

  constructor(watch: StoreWatch, verdict: Verdict) {
    this.#watch = watch;
    this.#verdict = verdict;
  }

  /** A process hears from its store. */
  readonly told = ({ name, asked }: Call, reply: unknown): void => {
    if (name === 'commit') {
      const { replies } = reply as CommitReplies;
      const [items] = asked as [readonly CommitItem[]];
      for (const [index, item] of items.entries()) if (replies[index]?.ok) this.#expectLogged(item);
    }
    if (name === 'claim') {
      for (const { spec, rev, attemptId } of (reply as Claimed).jobs)
        this.#expectLogged({ jobId: spec.jobId, rev, commandId: attemptId ?? '' });
    }
  };

  #expectLogged({ jobId, rev, commandId }: Pick<CommitItem, 'jobId' | 'rev' | 'commandId'>): void {
    if (this.#watch.purged.has(jobId)) return;
    const logged = this.#watch.tables.jobs.get(jobId)?.log[rev - 1]?.commandId;
    this.#verdict.expect(
      logged === commandId,
      1,
      () => `${jobId}/${rev} was acknowledged, and is not in the log`,
    );
  }

  started(jobId: string, start: Start): void {
    this.#starts.set(jobId, start);
    const { tenantId, scope, key } = start;
    const job = this.#watch.jobOf(jobId);
    this.#verdict.expect(job !== null, 1, () => `${jobId} was acknowledged, and does not exist`);
    this.#verdict.expect(
      job?.spec.tenantId === tenantId,
      12,
      () => `a start of ${tenantId} was answered with a job of ${job?.spec.tenantId}`,
    );
    if (key === null) return;
    const name = JSON.stringify([tenantId, scope, key]);
    const first = this.#byKey.get(name) ?? jobId;
    this.#byKey.set(name, first);
    this.#verdict.expect(first === jobId, 10, () => `${name} was answered with ${first}, and with ${jobId}`);
    const spec = job?.spec;
    const same =
      spec?.idempotencyKey === key &&
      spec.idempotencyScope === scope &&
      spec.task === start.task &&
      job?.input === start.input;
    this.#verdict.expect(same, 10, () => `${name} was answered with a job that asks for something else`);
  }

  result(jobId: string, result: string): void {
    const job = this.#watch.jobOf(jobId);
    this.#verdict.expect(
      job?.result === result,
      7,
      () => `${jobId} has another result than its client was given`,
    );
  }

  signalled(jobId: string, key: string, payload: string): void {
    this.#signals.push({ jobId, key, payload });
    this.#expectSignal({ jobId, key, payload });
  }

  /** Of two at once, at most one may be the first. */
  signalledTwice(jobId: string, key: string, firsts: number): void {
    this.#verdict.expect(firsts <= 1, 20, () => `${jobId} took signal ${key} twice`);
  }

  cancelled(jobId: string): void {
    this.#cancels.add(jobId);
    const status = this.#watch.jobOf(jobId)?.status;
    this.#verdict.expect(
      status === 'cancelled',
      1,
      () => `${jobId} was said to be cancelled, and is ${status}`,
    );
  }

  /** Its dead letter is there from that moment on. */
  abandoned(jobId: string): void {
    this.#abandoned.add(jobId);
    this.#expectAbandoned(jobId, this.#watch.jobOf(jobId)?.status);
  }

  #expectAbandoned(jobId: string, status: Status | undefined): void {
    if (this.#watch.purged.has(jobId)) return;
    const code = this.#watch.tables.dlq.get(dlqIdOf(jobId))?.errorCode;
    this.#verdict.expect(
      status === 'failed' && code === 'ABANDONED',
      1,
      () => `${jobId} was said to be abandoned, and is ${status}, with a dead letter of ${code}`,
    );
  }

  /** Of two at once, one ends the job: the other finds it ended, and is told so (DEC-7). */
  endedTwice(jobId: string, answers: number): void {
    this.#verdict.expect(answers <= 1, 4, () => `${jobId} was ended ${answers} times`);
  }

  requeued(dlqId: string, jobId: string): void {
    const other = this.#requeued.get(dlqId);
    this.#verdict.expect(other === undefined, 10, () => `${dlqId} was requeued as ${other}, and as ${jobId}`);
    this.#requeued.set(dlqId, jobId);
    const item = this.#watch.tables.dlq.get(dlqId);
    this.#verdict.expect(
      item?.requeuedAs === jobId,
      1,
      () => `${dlqId} does not say that it was requeued as ${jobId}`,
    );
  }

  discarded(dlqId: string, by: string): void {
    const item = this.#watch.tables.dlq.get(dlqId);
    this.#verdict.expect(
      item?.status === 'discarded',
      1,
      () => `${dlqId} was said to be discarded, and is ${item?.status}`,
    );
    const asked = item?.trail.find(({ action }) => action === 'ask_discard')?.by;
    this.#verdict.expect(asked !== `operator:${by}`, 1, () => `${dlqId} was discarded by one reviewer alone`);
  }

  answeredStranger(jobId: string, code: string): void {
    const isRight = code === 'JOB_NOT_FOUND' || code === 'STORE_UNAVAILABLE';
    this.#verdict.expect(isRight, 12, () => `a stranger's word about ${jobId} was answered with ${code}`);
  }

  /** An operation came to nothing. What went wrong must be something that a caller can be told. */
  refused(operation: string, error: unknown): void {
    if (!(error instanceof PawlError))
      this.#verdict.breach(
        23,
        `'${operation}' broke: ${error instanceof Error ? (error.stack ?? '') : String(error)}`,
      );
    else if (operation === 'start' && error.code === 'JOB_EXISTS')
      this.#verdict.breach(1, 'a start that was sent again was refused because of itself');
  }

  /** Once more, at the end: what the store itself holds by then, whatever was seen of it before. */
  check(): void {
    const { tables, purged } = this.#watch;
    for (const jobId of this.#starts.keys())
      this.#verdict.expect(tables.jobs.has(jobId) || purged.has(jobId), 1, () => `${jobId} is gone`);
    for (const jobId of this.#cancels) {
      const status = tables.jobs.get(jobId)?.row.status;
      this.#verdict.expect(
        status === 'cancelled' || purged.has(jobId),
        1,
        () => `the cancel of ${jobId} is gone: it is ${status}`,
      );
    }
    for (const jobId of this.#abandoned) this.#expectAbandoned(jobId, tables.jobs.get(jobId)?.row.status);
    for (const signal of this.#signals) this.#expectSignal(signal);
  }

  /** In the inbox, until the wait that it is for takes it out: that does not run out over it. */
  #expectSignal({ jobId, key, payload }: { jobId: string; key: string; payload: string }): void {
    if (this.#watch.purged.has(jobId)) return;
    const kept = this.#watch.tables.jobs.get(jobId)?.inbox.get(key);
    this.#verdict.expect(kept?.payload === payload, 1, () => `signal ${key} of ${jobId} is gone`);
    if (kept === undefined) return;
    const wait = this.#watch.jobs.get(jobId)?.steps.waitFor(key);
    this.#verdict.expect(
      wait?.outcome !== 'timeout',
      1,
      () => `signal ${key} of ${jobId} was accepted, and not heard`,
    );
    if (!kept.consumed) return;
    this.#verdict.expect(
      wait?.outcome === 'received' && wait.payload === kept.payload,
      1,
      () => `signal ${key} of ${jobId} was consumed, and no wait has it`,
    );
  }
}
