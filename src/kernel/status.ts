/** Every state that a job can be in. Store constraints and API enums are made from this list. */
export const STATUSES = [
  'scheduled',
  'queued',
  'running',
  'waiting',
  'unblocked',
  'retrying',
  'interrupted',
  'dlq_pending',
  'dlq_recorded',
  'succeeded',
  'failed',
  'cancelled',
] as const;

export type Status = (typeof STATUSES)[number];

export const TERMINAL_STATUSES = ['succeeded', 'failed', 'cancelled'] as const satisfies readonly Status[];

/** States from which a claim can take a job, each subject to its due time. `scheduled` counts once it is due. */
export const CLAIMABLE_STATUSES = [
  'scheduled',
  'queued',
  'unblocked',
  'retrying',
  'interrupted',
] as const satisfies readonly Status[];

export type TerminalStatus = (typeof TERMINAL_STATUSES)[number];

export function isTerminal(status: Status): status is TerminalStatus {
  return status === 'succeeded' || status === 'failed' || status === 'cancelled';
}

/** Neither ended nor on its way through the dead-letter queue: the job can still be cancelled, signalled or expire. */
export function isLive(status: Status): boolean {
  return !isTerminal(status) && status !== 'dlq_pending' && status !== 'dlq_recorded';
}
