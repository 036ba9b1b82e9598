import { keyOf } from '../../src/engine/alerts/alert-records.js';
import { stepKey } from '../../src/kernel/index.js';
import type { EffectResult, Store, StoredRecord } from '../../src/ports/store.js';
import type { Verdict } from '../../src/sim/verdict.js';
import { momentOf, type Moment } from './outside.js';
import type { EffectUse } from './read-jobs.js';

/**
 * Whoever brings a late result reports it with its next breath. One that ended within this time may not have come to that;
 * with more, hardly any would be held to it in a run that kills every worker again and again.
 */
const GRACE_NS = 5_000_000_000n;
const PAGE = 500;

/** A result that was stored for an entry after which another was entered is raised as EFFECT_LATE_RESULT, never hidden. */
export async function checkLate({
  effects,
  ends,
  store,
  verdict,
}: {
  effects: ReadonlyMap<string, EffectUse>;
  /** When processes ended. */
  ends: readonly Moment[];
  store: Pick<Store, 'effects' | 'records'>;
  verdict: Verdict;
}): Promise<void> {
  const raised = await raisedIn(store);
  for (const use of effects.values()) {
    const { jobId, step, occurrence } = use;
    if (use.intents === 1) continue;
    for (const one of (await store.effects(jobId)).results) {
      const isOwn = one.step === step && one.occurrence === occurrence;
      if (!isOwn || one.result === null || one.entry >= use.entry || isExcused(one, ends)) continue;
      const subject = [jobId, step, occurrence, one.entry];
      verdict.expect(
        raised.has(keyOf({ rule: 'effect_late_result', subject })),
        8,
        () => `the late result of ${jobId} ${stepKey(one)}, entry ${one.entry}, was hidden`,
      );
    }
  }
}

/** Whose process was gone before it could have said so. */
function isExcused({ result }: EffectResult, ends: readonly Moment[]): boolean {
  const bringer = momentOf(JSON.parse(result ?? 'null') as string);
  if (bringer === null) return false;
  return ends.some(({ pid, atNs }) => {
    const livedNs = atNs - bringer.atNs;
    return pid === bringer.pid && livedNs >= 0n && livedNs < GRACE_NS;
  });
}

/** The keys of all alerts. */
async function raisedIn(store: Pick<Store, 'records'>): Promise<Set<string>> {
  const keys = new Set<string>();
  for (let after: StoredRecord | null = null; ;) {
    const page: readonly StoredRecord[] = (
      await store.records({ kind: 'alert', tenantId: null, after, limit: PAGE })
    ).records;
    for (const { id } of page) keys.add(id.slice(0, id.lastIndexOf('#')));
    after = page.at(-1) ?? null;
    if (page.length < PAGE) return keys;
  }
}
