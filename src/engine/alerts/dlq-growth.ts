import type { Engine } from '../engine.js';
import type { AlertOptions } from './alert-options.js';
import type { Finding } from './alert.js';
import { spanInWords } from './span-in-words.js';

/**
 * While it is raised, half as much keeps it so. Failures come by chance: a number that wavers around the threshold would
 * raise and clear it in every round.
 */
const WHILE_RAISED = 2;

/**
 * Many more of a tenant's jobs than usual were dead-lettered. Usual is the time just before: growth that lasts becomes
 * usual, and the alert clears; what is left to do stands in the dead-letter queue.
 */
export async function findDlqGrowth(
  engine: Engine,
  rule: AlertOptions['dlqGrowth'],
  raised: ReadonlySet<string>,
): Promise<Finding[]> {
  if (rule === null) return [];
  const { atLeast, withinMs, times, beforeMs } = rule;
  const from = engine.now() - withinMs;
  const recent = await engine.store.dlqEntered({
    from,
    until: Number.MAX_SAFE_INTEGER,
    atLeast: Math.ceil(atLeast / WHILE_RAISED),
  });
  const many = recent.tenants.filter(({ tenantId, count }) => weigh(tenantId, count) >= atLeast);
  if (many.length === 0) return [];
  const earlier = await engine.store.dlqEntered({ from: from - beforeMs, until: from, atLeast: 1 });
  const before = new Map(earlier.tenants.map(({ tenantId, count }) => [tenantId, count]));

  return many.flatMap(({ tenantId, count }): Finding[] => {
    const earlierCount = before.get(tenantId) ?? 0;
    // Without a division, so that the edge is exact.
    if (weigh(tenantId, count) * beforeMs <= times * earlierCount * withinMs) return [];
    const usual = (earlierCount * withinMs) / beforeMs;
    const span = spanInWords(withinMs);
    const message =
      `${count} jobs were dead-lettered within ${span}, where ${usual.toFixed(1)} were usual: ` +
      'look at the newest dead letters, mend what they failed with, then requeue them.';
    return [
      { tenantId, rule: 'dlq_growth', value: count, threshold: Math.max(atLeast, times * usual), message },
    ];
  });

  function weigh(tenantId: string, count: number): number {
    return raised.has(tenantId) ? count * WHILE_RAISED : count;
  }
}
