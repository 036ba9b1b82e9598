import { changesOf, evolveCommit, openDlqItem, type Event, type Job } from '../kernel/index.js';
import type { Loaded, NewOutboxEntry } from '../ports/store.js';
import { childCancel, childEnded, childIdOf } from './child-mail.js';
import type { Engine } from './engine.js';
import type { Extras } from './prepare-commit.js';
import { readLog } from './read-log.js';

const ENDS: ReadonlySet<Event['type']> = new Set(['job.succeeded', 'job.failed', 'job.cancelled']);
const NOTHING: Extras = {};

/**
 * What the end of a job brings with it, in the same commit: its dead-letter item, word to its parent, and an end to its
 * children. Costs nothing for all other commits.
 */
export function consequencesOf(
  engine: Engine,
  head: Loaded | null,
  events: readonly Event[],
): Extras | Promise<Extras> {
  const last = events.at(-1);
  if (head === null || last === undefined || !ENDS.has(last.type)) return NOTHING;
  const outbox = mailOf(head.job, events);
  if (last.type !== 'job.failed') return outbox.length === 0 ? NOTHING : { outbox };
  return (async () => {
    const { jobId } = head.job.spec;
    const past = await readLog(engine.store, jobId);
    const dlqItem = openDlqItem(changesOf([...past, { jobId, rev: past.length + 1, events }]));
    return { outbox, dlqItem };
  })();
}

function mailOf(before: Job, events: readonly Event[]): NewOutboxEntry[] {
  const children = before.waits.filter(({ kind }) => kind === 'child');
  if (children.length === 0 && before.spec.parent === null) return [];
  const after = evolveCommit(before, { events });
  const mail = children.map((wait) => childCancel(childIdOf(before, wait), after.updatedAt));
  const ended = childEnded(after, after.updatedAt);
  return ended ? [...mail, ended] : mail;
}
