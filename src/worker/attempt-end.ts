import type { Event } from '../kernel/index.js';

/** Why an attempt can write no more. */
export type AttemptEnd = 'finished' | 'suspended' | 'lost';

const ENDS: Readonly<Partial<Record<Event['type'], AttemptEnd>>> = {
  'job.succeeded': 'finished',
  'job.failed': 'finished',
  'attempt.failed': 'finished',
  'attempt.interrupted': 'finished',
  'wait.begun': 'suspended',
};

/** What events mean for the attempt that wrote them; null: it goes on. */
export function endOf(events: readonly Event[]): AttemptEnd | null {
  const last = events.at(-1);
  return (last && ENDS[last.type]) ?? null;
}
