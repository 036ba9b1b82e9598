import type { Engine } from '../engine.js';
import type { AlertOptions } from './alert-options.js';
import type { Finding } from './alert.js';

/**
 * Too many of a tenant's live jobs are being retried. Only tenants with so many retrying jobs that it could be are looked
 * at further, and their live jobs are counted no further than it takes to know.
 */
export async function findRetryingShare(
  engine: Engine,
  rule: AlertOptions['retryingShare'],
): Promise<Finding[]> {
  if (rule === null) return [];
  const { share, atLeast } = rule;
  const { tenants } = await engine.store.retrying({ atLeast: Math.floor(share * atLeast) });
  const findings: Finding[] = [];
  for (const { tenantId, count: retrying } of tenants) {
    // From so many on, it is no more than the share.
    const atMost = Math.max(Math.floor(retrying / share) + 1, atLeast);
    const { count: live } = await engine.store.countLive({ tenantId, atMost });
    // Whole numbers divided: at the very edge this is as exact as the share itself.
    const value = retrying / live;
    if (live < atLeast || value <= share) continue;
    findings.push({
      tenantId,
      rule: 'retrying_share',
      value,
      threshold: share,
      message: `${retrying} of ${live} live jobs are being retried: look at what they fail with, and at the systems that they call.`,
    });
  }
  return findings;
}
