import { decide, NO_STEPS } from '../kernel/index.js';
import type { CommitItem, OutboxEntry, OutboxOutcome } from '../ports/store.js';
import { childWaitKey, type ChildEnd, type ChildMail } from './child-mail.js';
import type { Engine } from './engine.js';
import { give } from './give.js';
import { prepareCommit } from './prepare-commit.js';
import { patience, send } from './send.js';
import { deliverInbox } from './signal-job.js';

const PAGE = 500;
const AGAIN_MS = 1_000;
/** A child that cannot be found for so long was purged, and needs no end any more. */
const MOST_TRIES = 100;

type Mail = { readonly entry: OutboxEntry; readonly mail: ChildMail };
type MailOf<K extends ChildMail['kind']> = Extract<ChildMail, { kind: K }>;

/**
 * Carries mail between parents and children. Each entry at least once; what it does, it does once. An entry whose bearer
 * died is taken again after `leaseMs`, the worker's own: its jobs wait no longer for each other than they do for it.
 */
export async function deliverOutbox(engine: Engine, { leaseMs }: { leaseMs: number }): Promise<boolean> {
  const { entries } = await engine.store.takeOutbox({ kind: 'child', limit: PAGE, leaseMs });
  if (entries.length === 0) return false;
  const taken: Mail[] = entries.map((entry) => ({ entry, mail: JSON.parse(entry.body) as ChildMail }));
  const of = <K extends ChildMail['kind']>(kind: K) =>
    taken.flatMap(({ mail }) => (mail.kind === kind ? [mail as MailOf<K>] : []));

  const refused = await startChildren(engine, of('child.start'));
  await tellParents(engine, [...of('child.ended'), ...refused]);
  const outcomes = await Promise.all(
    taken.map(async ({ entry, mail }): Promise<OutboxOutcome> => {
      const found = mail.kind !== 'child.cancel' || (await cancelChild(engine, mail.childId));
      if (found || entry.tries >= MOST_TRIES) return { entryId: entry.entryId, outcome: 'done' };
      return { entryId: entry.entryId, outcome: 'again', dueAt: engine.now() + AGAIN_MS };
    }),
  );
  await engine.store.settleOutbox(outcomes);
  return entries.length === PAGE;
}

/**
 * Answers with word to the parents of those that can no longer be started, such as one past its deadline. One that was
 * started before, by a bearer that did not get to say so, tells of its end itself.
 */
async function startChildren(
  engine: Engine,
  starts: readonly MailOf<'child.start'>[],
): Promise<MailOf<'child.ended'>[]> {
  const items: CommitItem[] = [];
  const refused: MailOf<'child.ended'>[] = [];
  for (const { spec, input } of starts) {
    const create = { type: 'create', now: engine.now(), actor: 'client', spec, input } as const;
    const decision = decide(null, create, NO_STEPS);
    if (decision.ok) {
      // The same name each time: a child that was started before its bearer died is not started twice.
      const commandId = `${spec.jobId}:start`;
      items.push(prepareCommit(null, { jobId: spec.jobId, commandId, events: decision.events }));
    } else if (spec.parent !== null && (await engine.store.load(spec.jobId)).found === null) {
      // The child that another bearer starts all the same, by a clock that stood still, ends like this too.
      const isTooLate = spec.deadlineAt !== null && spec.deadlineAt <= create.now;
      const end: ChildEnd = {
        status: 'failed',
        code: isTooLate ? 'DEADLINE_EXCEEDED' : decision.code,
        message: 'the child could not be started',
      };
      const { jobId: parentId } = spec.parent;
      const payload = JSON.stringify(end);
      refused.push({ kind: 'child.ended', parentId, key: childWaitKey(spec.parent), payload });
    }
  }
  if (items.length === 0) return refused;
  const { told } = await send(engine, items, { goOn: patience(engine) });
  for (const { job } of items) if (job) engine.announce(job, { told });
  return refused;
}

/** Everything is written down first, so that a parent that wakes finds all of its children's ends at once. */
async function tellParents(engine: Engine, ends: readonly MailOf<'child.ended'>[]): Promise<void> {
  await Promise.all(
    ends.map(({ parentId, key, payload }) => engine.store.putMessage({ jobId: parentId, key, payload })),
  );
  await Promise.all([...new Set(ends.map(({ parentId }) => parentId))].map((id) => deliverInbox(engine, id)));
}

/** False while there is no such child: its start may still be on its way. */
async function cancelChild(engine: Engine, childId: string): Promise<boolean> {
  const given = await give(engine, childId, ({ job }) => {
    if (job.finishedAt !== null) return null;
    return {
      command: { type: 'cancel', now: engine.now(), actor: 'client', reason: 'the parent has ended' },
    };
  });
  return given.ok || given.code !== 'JOB_NOT_FOUND';
}
