import { changesOf, evolveCommit, openDlqItem, type Event, type Job } from '../kernel/index.js';
import type { Loaded, NewOutboxEntry } from '../ports/store.js';
import { childCancel, childEnded, childIdOf } from './child-mail.js';
import type { Engine } from './engine.js';
import type { Extras } from './prepare-commit.js';
import { readLog } from './read-log.js';

const ENDS: ReadonlySet<Event['type']> = new Set(['job.succeeded', 'job.failed', 'job.cancelled']);
const NOTHING: Extras = {};

/**
 * What a commit brings with it, in the same transaction: callbacks to those who subscribed; and at the end of a job its
 * dead-letter item, word to its parent, and an end to its children. Most commits bring nothing, and cost nothing here.
 */
export function consequencesOf(
  engine: Engine,
  head: Loaded | null,
  events: readonly Event[],
): Extras | Promise<Extras> {
  const last = events.at(-1);
  if (head === null || last === undefined) return NOTHING;
  const callbacks = engine.subscriptions.lettersFor(head.job.spec, { rev: head.job.rev + 1, events });
  if (!ENDS.has(last.type)) return callbacks.length === 0 ? NOTHING : { outbox: callbacks };
  const outbox = [...mailOf(head.job, events), ...callbacks];
  if (last.type !== 'job.failed') return outbox.length === 0 ? NOTHING : { outbox };
  return (async () => {
    const { jobId } = head.job.spec;
    // What came after the head that was decided on makes the commit void; the item must not stumble over it.
    const past = (await readLog(engine.store, jobId)).slice(0, head.job.rev);
    const dlqItem = openDlqItem(changesOf([...past, { jobId, rev: past.length + 1, events }]));
    return { outbox, dlqItem };
  })();
}

function mailOf(before: Job, events: readonly Event[]): NewOutboxEntry[] {
  // A child may be started in the very commit that ends its parent.
  const started = events.flatMap((event) => (event.type === 'child.started' ? [event.wait] : []));
  const children = [...before.waits.filter(({ kind }) => kind === 'child'), ...started];
  if (children.length === 0 && before.spec.parent === null) return [];
  const after = evolveCommit(before, { events });
  const mail = children.map((wait) => childCancel(childIdOf(before, wait), after.updatedAt));
  const ended = childEnded(after, after.updatedAt);
  return ended ? [...mail, ended] : mail;
}
