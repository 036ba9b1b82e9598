import type { JobHandle } from '../client/job-handle.js';
import type { Pawl } from '../client/pawl.js';
import { decidedEntry } from '../kernel/index.js';
import { sightings } from './witness.js';

/** A job that was acknowledged, and what was promised about it since. */
export type TrialJob = {
  readonly kind: 'order' | 'late';
  readonly handle: JobHandle;
  readonly witness: string;
  /** Signals that were acknowledged, by key. */
  readonly signals: Map<string, string>;
  /** The signal `late` is not sent before this is false. */
  withheld: boolean;
};

/** What the handlers wait for, and what they are sent. */
export const SIGNALS: Readonly<Record<string, string>> = { early: 'one', 'early-too': 'two', late: 'three' };

/** Sends a signal, and remembers that it was acknowledged. */
export async function signalTo({ handle, signals }: TrialJob, key: string): Promise<string> {
  const payload = SIGNALS[key] ?? '';
  const answer = await handle.signal(key, payload);
  signals.set(key, payload);
  return answer;
}

/** What only people do: the signals that are waited for, and decisions on effects whose outcome nobody else can tell. */
export async function lookAfter(app: Pawl, job: TrialJob): Promise<void> {
  const { handle, signals, withheld, witness } = job;
  const { status, waits } = await handle.status();
  if (status !== 'waiting') return;
  for (const wait of waits) {
    const isWanted = wait.key in SIGNALS && !signals.has(wait.key);
    if (isWanted && !(wait.key === 'late' && withheld)) await signalTo(job, wait.key);
    const asked = decidedEntry(wait);
    if (asked === null) continue;
    const isThere = sightings(witness).some(({ what }) => what === asked.step);
    const decision = isThere
      ? ({ verdict: 'happened', result: 'mailed' } as const)
      : ({ verdict: 'notHappened' } as const);
    await app.resolveEffect(handle.id, { step: asked.step, by: 'matrix', ...decision });
  }
}
