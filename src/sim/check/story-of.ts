import { decodeEvents, stepKey, type Event } from '../../kernel/index.js';
import type { LogRow } from '../../ports/store.js';

/** A commit in one line, for whoever reads the story of a run. */
export function storyOf({ jobId, rev, body }: LogRow): string {
  const decoded = decodeEvents(body);
  const events = decoded.ok ? decoded.events.map(eventOf).join(', ') : decoded.problem;
  return `${jobId.slice(-6)}/${rev} ${events}`;
}

function eventOf(event: Event): string {
  switch (event.type) {
    case 'job.created':
      return `${event.type} (${event.spec.task}, ${event.spec.tenantId}) ${event.input}`;
    case 'wait.completed':
      return `${event.type} ${event.wait.key} (${event.outcome})`;
    case 'wait.begun':
      return `${event.type} ${event.waits.map(({ key }) => key).join(' ')}`;
    case 'child.started':
      return `${event.type} ${event.wait.key} ${event.child.childId.slice(-6)}`;
    case 'effect.reconciled':
      return `${event.type} ${stepKey(event)}/${event.entry} (${event.verdict})`;
    case 'dlq.entered':
    case 'attempt.interrupted':
      return `${event.type} (${event.reason})`;
    case 'attempt.failed':
      return `${event.type} (${event.failure.code})`;
    default:
      return 'step' in event ? `${event.type} ${stepKey(event)}` : event.type;
  }
}
