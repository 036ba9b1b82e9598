import type { StepLog } from '../../kernel/index.js';
import type { Loaded } from '../../ports/store.js';

/** A job as its last commit through this server left it. `steps` null: nobody has needed them yet. */
export type KnownHead = { readonly head: Loaded; readonly steps: StepLog | null };

/** Jobs that run on remote workers, beyond which the ones used longest ago are read again when they are needed. */
const MOST = 5_000;
/** Far less than it takes a job to be purged and its id to be given to another: a head that is older is read again. */
const FRESH_MS = 60_000;

/**
 * Where jobs stand that remote workers run, so that a commit costs no more reading than it does beside the store. Nothing
 * here is trusted: a job that has moved on since is found by its log's key when the commit is saved.
 */
export class HeadCache {
  readonly #known = new Map<string, KnownHead & { readonly since: number }>();
  readonly #elapsed: () => number;

  constructor(elapsed: () => number) {
    this.#elapsed = elapsed;
  }

  /** Takes it out: whoever decides on it changes its steps, and puts it back only once that is saved. */
  take(jobId: string, rev: number): KnownHead | null {
    const known = this.#known.get(jobId);
    if (known === undefined) return null;
    this.#known.delete(jobId);
    return this.#isFresh(known) && known.head.job.rev === rev ? known : null;
  }

  /** Whose job it is: no commit changes that. Null: it has to be read. */
  tenantOf(jobId: string): string | null {
    const known = this.#known.get(jobId);
    return known !== undefined && this.#isFresh(known) ? known.head.job.spec.tenantId : null;
  }

  put(known: KnownHead): void {
    const { jobId } = known.head.job.spec;
    this.#known.delete(jobId);
    this.#known.set(jobId, { ...known, since: this.#elapsed() });
    if (this.#known.size > MOST) this.#known.delete(this.#known.keys().next().value ?? '');
  }

  #isFresh({ since }: { readonly since: number }): boolean {
    return this.#elapsed() - since < FRESH_MS;
  }
}
