import type { EffectResult } from '../../ports/store.js';
import { stepKey } from '../../kernel/index.js';
import type { Call } from '../network.js';
import type { Host } from '../host.js';
import type { Verdict } from '../verdict.js';
import type { StoreWatch } from './store-watch.js';

type Late = {
  readonly jobId: string;
  readonly step: string;
  readonly occurrence: number;
  readonly entry: number;
};

/** Results of effects that arrive after they were declared not to have happened: each must be made known. */
export class LateResults {
  readonly #watch: StoreWatch;
  readonly #verdict: Verdict;
  readonly #expected = new Map<string, { readonly host: Host; readonly late: Late }>();
  readonly #reported = new Set<string>();

  constructor(watch: StoreWatch, verdict: Verdict) {
    this.#watch = watch;
    this.#verdict = verdict;
  }

  /** After a call was executed. */
  look({ name, host, asked }: Call): void {
    if (name !== 'putEffect') return;
    const [{ jobId, step, occurrence, entry, result }] = asked as [EffectResult];
    const known = this.#watch.jobs.get(jobId)?.steps.get({ step, occurrence });
    if (result === null || known?.kind !== 'effect') return;
    // As long as no other was entered, here or by a job that goes on with this one, a result that turns up counts after all.
    if (entry >= known.entry && !this.#isReentered({ jobId, step, occurrence })) return;
    const late = { jobId, step, occurrence, entry };
    this.#expected.set(nameOf(late), { host, late });
  }

  /** By a job that goes on with this one. */
  #isReentered(ref: Omit<Late, 'entry'>): boolean {
    for (const { jobId, job, steps } of this.#watch.jobs.values()) {
      if (job?.spec.continues?.jobId !== ref.jobId) continue;
      const known = steps.get(ref);
      if (known?.kind === 'effect' && known.entry > 1) return true;
      return this.#isReentered({ ...ref, jobId });
    }
    return false;
  }

  readonly reported = (_host: Host, late: Late): void => {
    this.#reported.add(nameOf(late));
  };

  /** Whoever brought it must have said so, unless it died first. */
  check(): void {
    for (const [name, { host, late }] of this.#expected) {
      if (host.isDead || this.#watch.purged.has(late.jobId)) continue;
      this.#verdict.expect(
        this.#reported.has(name),
        8,
        () => `the late result of ${late.jobId} ${stepKey(late)}, entry ${late.entry}, was hidden`,
      );
    }
  }
}

function nameOf({ jobId, entry, ...ref }: Late): string {
  return `${jobId} ${stepKey(ref)} ${entry}`;
}
