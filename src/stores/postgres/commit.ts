import { laneOf } from '../../kernel/index.js';
import type { CommitItem } from '../../ports/store.js';
import { SAVED, saveCarefully, wantedBy, type Saved } from './commit-carefully.js';
import { saveChanges, saveCreates, type Outcome } from './commit-statements.js';
import { isLocked } from './lock-waits.js';
import { luggageOf } from './luggage.js';
import { saveRecord, saveRecords } from './save-records.js';
import { isUnreadable, sqlStateOf } from './server-error.js';
import type { Session } from './session.js';
import type { Mark } from './since-purge.js';
import type { NoticeBoard } from './wake-ups.js';

/**
 * Saves a group of commits: those of one kind together, in one statement that is its own transaction. Whatever does not
 * go through as hoped has written nothing and is sent again singly, with all that it takes to say why. That happens in
 * a lane of its own: a start that waits for someone else's key holds nobody up.
 */
export function saveGroup(
  session: Session,
  items: readonly CommitItem[],
  board: NoticeBoard,
): Promise<readonly (Saved | Promise<Saved>)[]> {
  const [first] = items;
  if (items.length !== 1 || !first) return saveTogether(session, items);
  if (isRecord(first)) return saveAlone(session, first, saveRecord(session, first));
  const { rev, job } = first;
  return rev === 1 && job?.status === 'queued' && goesWithOthers(session, first)
    ? saveStart(session, first, { board, lane: laneOf(job.spec) })
    : saveTogether(session, items);
}

async function saveTogether(
  session: Session,
  items: readonly CommitItem[],
): Promise<(Saved | Promise<Saved>)[]> {
  const saved: Through = new Map();
  const groups = [...byKind(session, items)].map(([save, group]) => abreast(session, saved, group, save));
  await (groups.length === 1 ? groups[0] : Promise.all(groups));
  const last = new Map<string, Promise<unknown>>();
  return items.map((item) => {
    const through = saved.get(item);
    if (through !== undefined) return through;
    // In order within a job: a commit is never sent before the one that it follows.
    const turn = (last.get(item.jobId) ?? Promise.resolve()).then(() => saveCarefully(session, item));
    last.set(
      item.jobId,
      turn.catch(() => undefined),
    );
    return turn;
  });
}

/** What comes alone, as steps of one job do: the time of this is all there is to it. */
async function saveAlone(
  session: Session,
  item: CommitItem,
  saving: Promise<Outcome[]>,
): Promise<(Saved | Promise<Saved>)[]> {
  try {
    const [outcome] = await saving;
    if (outcome?.count === 1) {
      remember(session, item, markOf(outcome));
      return [{ reply: SAVED, now: outcome.now }];
    }
  } catch (error) {
    if (!isConflict(error) && !isUnreadable(error)) throw error;
  }
  return [saveCarefully(session, item)];
}

/** A job that may run at once: those who wait for such hear of it from the server, while this process hears that it is saved. */
async function saveStart(
  session: Session,
  item: CommitItem,
  { board, lane }: { board: NoticeBoard; lane: string },
): Promise<readonly (Saved | Promise<Saved>)[]> {
  const notice = board.noticeOf(item.jobId, lane);
  if (notice === null) return saveAlone(session, item, saveCreates(session.listed, [item]));
  const saved = await saveAlone(session, item, saveCreates(session.listedWith(notice), [item]));
  return saved.map((one) => {
    if (one instanceof Promise) return one;
    board.tellHere(lane);
    return { ...one, told: true };
  });
}

/** A step record that brings nothing along. */
const isRecord = (item: CommitItem): boolean =>
  item.job === null && item.rev > 1 && !isRare(item) && luggageOf([item]).length === 0;

/** Commits of one kind, in one statement that is its own transaction. */
type Save = (session: Session, items: readonly CommitItem[]) => Promise<Outcome[]>;

/** What goes together, and how. A job's second commit, and what had better go by itself, goes singly. */
function byKind(session: Session, items: readonly CommitItem[]): Map<Save, CommitItem[]> {
  const seen = new Set<string>();
  const kinds = new Map<Save, CommitItem[]>();
  for (const item of items) {
    if (seen.has(item.jobId) || !goesWithOthers(session, item)) continue;
    seen.add(item.jobId);
    const save = kindOf(item);
    const group = kinds.get(save);
    if (group) group.push(item);
    else kinds.set(save, [item]);
  }
  return kinds;
}

function kindOf({ rev, job, identities }: CommitItem): Save {
  if (rev === 1) return identities.length === 0 ? saveUnkeyed : saveKeyed;
  return job === null ? saveRecords : saveChanges;
}

const saveUnkeyed: Save = ({ listed }, items) => saveCreates(listed, items);
/** Apart from the others: a key that someone has taken and not committed fails all that go with it. */
const saveKeyed: Save = ({ listed }, items) => saveCreates(listed, items);

/** One that would have to wait behind another holds up the whole group, and then fails it. Records need none of what is waited for. */
function goesWithOthers({ waits }: Session, item: CommitItem): boolean {
  if (isRare(item)) return false;
  const needsNothing = waits.isIdle || (item.rev > 1 && item.job === null);
  return needsNothing || waits.ahead(wantedBy(item).names) === null;
}

/**
 * Looked at one by one: what goes by an effect's result or, without touching the job's row, by its inbox; what takes over a key,
 * or a dead letter, or needs a job that may be deleted. A job that fails makes one; any other that names one has to find it as it was.
 */
function isRare({ rev, job, inboxRev, dlqItem, noResultOf, identities }: CommitItem): boolean {
  const looksFirst = identities.some(({ replaces, needs }) => (replaces ?? needs) !== undefined);
  const takesLetter = dlqItem !== null && (rev === 1 || dlqItem.version > 1);
  return noResultOf !== null || looksFirst || takesLetter || (job === null && inboxRev !== null);
}

/** The commits that went through, and what is answered to them. */
type Through = Map<CommitItem, Saved>;

/** From this many on, commits are sent in two halves: the server works on the first while the second is being written. */
const WORTH_HALVING = 400;

/** Adds those that went through. Each commit concerns a job of its own, so that their order says nothing. */
async function abreast(
  session: Session,
  saved: Through,
  items: readonly CommitItem[],
  save: Save,
): Promise<void> {
  if (items.length < WORTH_HALVING) return together(session, saved, items, save);
  const half = items.length >> 1;
  const first = together(session, saved, items.slice(0, half), save);
  const second = sent().then(() => together(session, saved, items.slice(half), save));
  await Promise.all([first, second]);
}

/** Once everything that was asked for is on its way. */
const sent = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** In one statement. */
async function together(
  session: Session,
  saved: Through,
  items: readonly CommitItem[],
  save: Save,
): Promise<void> {
  try {
    const [outcome] = await save(session, items);
    if (outcome === undefined) return;
    const ids = outcome.count === items.length ? null : new Set(outcome.ids?.split(' '));
    const answer = { reply: SAVED, now: outcome.now };
    const mark = markOf(outcome);
    for (const item of items) {
      if (ids !== null && !ids.has(item.jobId)) continue;
      saved.set(item, answer);
      remember(session, item, mark);
    }
  } catch (error) {
    if (!isConflict(error) && !isUnreadable(error)) throw error;
  }
}

/** For the claims and the records to come. Only what is durable: a transaction may still be undone. */
function remember({ recent, sincePurge }: Session, item: CommitItem, mark: Mark | null): void {
  const { jobId, job, link } = item;
  if (job === null) sincePurge.saved(item, mark);
  else {
    recent.set(jobId, { job, link });
    sincePurge.forget(jobId);
  }
}

const markOf = ({ server, log, purge }: Outcome): Mark | null =>
  server === undefined || log === undefined || purge === undefined ? null : { server, log, purge };

const UNIQUE_VIOLATION = '23505';

/** Someone else's row stands in the way of one of them, or will once its transaction ends. */
function isConflict(error: unknown): boolean {
  return sqlStateOf(error) === UNIQUE_VIOLATION || isLocked(error);
}
