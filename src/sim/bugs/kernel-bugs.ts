import type { Bug } from './bug.js';

const t = (name: string): string => `kernel/transitions/${name}`;

/** Rules of the kernel, broken. */
export const KERNEL_BUGS: readonly Bug[] = [
  { name: 'retry not counted', file: t('fail-attempt'), from: 'job.retryCount + 1', to: 'job.retryCount' },
  {
    name: 'one retry too many',
    file: t('fail-attempt'),
    from: 'job.retryCount >= retry.maxRetries',
    to: 'job.retryCount > retry.maxRetries',
  },
  { name: 'fatal errors are retried', file: t('fail-attempt'), from: '!failure.retryable', to: 'false' },
  { name: 'backoff from the epoch', file: t('fail-attempt'), from: 'now + retryDelayMs', to: 'retryDelayMs' },
  {
    name: 'timer fires early',
    file: t('expire-waits'),
    from: 'wait.expiresAt <= now',
    to: 'wait.expiresAt <= now + 5000',
  },
  {
    name: 'recovery abort ignored',
    file: t('interrupt'),
    from: "job.spec.recovery === 'resume' && ",
    to: '',
  },
  {
    name: 'one recovery too many',
    file: t('interrupt'),
    from: 'job.recoveryCount < job.spec.maxRecoveries',
    to: 'job.recoveryCount <= job.spec.maxRecoveries',
  },
  {
    name: 'crash not counted',
    file: 'kernel/evolve',
    from: "if (event.reason !== 'drained')",
    to: 'if (false)',
  },
  {
    name: 'hand-back counted as a crash',
    file: 'kernel/evolve',
    from: "if (event.reason !== 'drained')",
    to: 'if (true)',
  },
  { name: 'finished jobs can be cancelled', file: t('cancel'), from: '!isLive(job.status)', to: 'false' },
  {
    name: 'effect re-run on unknown outcome',
    file: 'kernel/ledger',
    from: "known.state === 'closed'",
    to: "known.state !== 'committed'",
  },
  {
    name: 'checkpoint forgets occurrences',
    file: t('save-checkpoint'),
    from: 'occurrences: steps.occurrences()',
    to: 'occurrences: {}',
  },
  { name: 'promoted early', file: t('create'), from: 'spec.scheduledAt > now', to: 'false' },
  {
    name: 'deadline claims a waiting job',
    file: t('expire-deadline'),
    from: 'for (const wait of job.waits)',
    to: 'for (const wait of [])',
  },
  {
    name: 'dead-letter row skipped',
    file: 'kernel/dead-letter',
    from: "{ type: 'dlq.recorded', at, actor, dlqId: dlqIdOf(job.spec.jobId) },",
    to: '',
  },
  { name: 'rate off by one', file: 'kernel/rate-limit', from: 'limit - taken', to: 'limit - taken + 1' },
  {
    name: 'rate forgets what began late in a slot',
    file: 'kernel/rate-limit',
    from: 'perMs + slotMs(perMs)',
    to: 'perMs / 2',
  },
  {
    name: 'dead lease revived by a heartbeat',
    file: 'kernel/worker-lease',
    from: 'if (lease.dead)',
    to: 'if (false)',
  },
  {
    name: 'lease never expires',
    file: 'kernel/worker-lease',
    from: 'lease.dead || !isLeaseOver(lease, now)',
    to: 'true',
  },
  {
    name: 'lease expires early',
    file: 'kernel/worker-lease',
    from: 'lease.dead || !isLeaseOver(lease, now)',
    to: 'lease.dead || !isLeaseOver({ leaseUntil: lease.leaseUntil - 2000 }, now)',
  },
  {
    name: 'a worker resigns with jobs in its hands',
    file: 'kernel/worker-lease',
    from: 'lease.dead || holdsJobs',
    to: 'lease.dead',
  },
  {
    name: 'another input is a hit',
    file: 'kernel/idempotency',
    from: 'conflictFields.length === 0',
    to: 'true',
  },
  {
    name: 'a step keeps its failure for ever',
    file: t('fail-step'),
    from: 'known?.failedInAttempt === attemptOf(job)',
    to: 'true',
  },
  {
    name: 'a closed entry stays closed',
    file: 'kernel/step-log',
    from: "notHappened: 'closed'",
    to: "notHappened: 'unknown'",
  },
];
