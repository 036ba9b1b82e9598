import { must } from '../../kernel/index.js';
import type { Clock } from '../../ports/clock.js';
import type { CommitItem, CommitReplies, EffectResult, NewMessage, Store } from '../../ports/store.js';
import { GateTurns } from '../gate-turns.js';
import { groupCommit, groupReplies, type Answers, type GroupOptions } from '../group-commit.js';
import type { MigrationMode } from '../migration.js';
import { claim } from './claim.js';
import { FewFirst } from './claim-few.js';
import type { Saved } from './commit-carefully.js';
import { saveGroup } from './commit.js';
import { commitWithin } from './commit-within.js';
import { dlq, dlqItem, putDlqItem } from './dlq.js';
import { heldFor, hold, pausedQueues, pauseQueue, release } from './controls.js';
import { ownersOf } from './identities.js';
import { beat, orphans, resign, workers } from './leases.js';
import { list } from './list-jobs.js';
import { loadEach } from './load.js';
import { effects, inboxes, putEffects, putMessages, unread } from './mailbox.js';
import { migrate } from './migrate.js';
import { deadOutbox, settleOutbox, takeOutbox } from './outbox.js';
import { aged, purge } from './purge.js';
import { forItself } from './for-itself.js';
import { heads } from './heads.js';
import { ReadAhead } from '../read-ahead.js';
import { UnreadableJobs } from '../unreadable-jobs.js';
import { due, feed, feedEnd, feedHeldBack, logs, type LogPage } from './reads.js';
import { deleteRecord, putRecord, record, records } from './records.js';
import {
  deleteSchedule,
  dueSchedules,
  makeKnown,
  putSchedules,
  schedule,
  schedules,
  type SchedulePut,
} from './schedules.js';
import { Session, type SessionOptions } from './session.js';
import { SkipAhead } from './skip-ahead.js';
import { strays } from './strays.js';
import { countLive, counts, dlqEntered, dlqOpen, liveCounts, retrying } from './tallies.js';
import { begin } from './transaction.js';
import { notifiedWakeUps } from './wake-ups.js';

/** What was saved, at the time of the last of it. */
function answered(saved: readonly Saved[]): CommitReplies {
  const [only] = saved;
  if (saved.length === 1 && only && !only.told) return { now: only.now, replies: [only.reply] };
  let now = 0;
  for (const one of saved) now = Math.max(now, one.now);
  const replies = saved.map(({ reply }) => reply);
  return saved.every(({ told }) => told === true) ? { now, replies, told: true } : { now, replies };
}

const nothing = (now: number): CommitReplies => ({ now, replies: [] });

/** Commits in one transaction. More make single ones wait longer, fewer send more statements. */
const MOST_IN_GROUP = 1_000;
/** Jobs that are read at once. Their inputs may be long, and none is answered before all are read. */
const MOST_LOADED = 100;
/** Rows of logs that are read at once, of one job or of fifty. */
const MOST_ROWS = 2_500;
/** What has more characters counts for more: together they have a few megabytes at most, and a message to the server never too many. */
const LONG = 4_096;
const weightOf = (characters: number): number => Math.max(1, characters / LONG);
/** While the server works on one, this process makes the next. A third only took the two cores from the others. */
const GROUPS_ABREAST = 2;

export type PostgresOptions = SessionOptions & {
  readonly clock: Pick<Clock, 'after'>;
  readonly migrations?: MigrationMode;
};

/** A Postgres database, shared by any number of processes and machines. Its clock is the one that counts. */
export async function postgresStore(options: PostgresOptions): Promise<Store> {
  const session = new Session(options);
  try {
    await migrate(session, options.migrations ?? 'migrate');
  } catch (error) {
    await session.close();
    throw error;
  }
  const { single, listed, watched } = session;
  const wakeUps = notifiedWakeUps(session, options.clock);
  const save = (items: readonly CommitItem[]) => saveGroup(session, items, wakeUps);
  const commit = groupReplies(save, answered, {
    most: MOST_IN_GROUP,
    weigh: (item) => weightOf(item.body.length + (item.dlqItem?.payload.length ?? 0)),
    abreast: GROUPS_ABREAST,
  });
  /** What many ask for at the same time, each for one thing, as a thousand signals do, is one statement. */
  const together = <Ask, Answer>(
    run: (asks: readonly Ask[]) => Promise<Answers<Answer>>,
    limits: Partial<GroupOptions<Ask>> = {},
  ): ((ask: Ask) => Promise<Answer>) => {
    const group = groupCommit(forItself(run), { most: MOST_IN_GROUP, abreast: GROUPS_ABREAST, ...limits });
    return async (ask) => must((await group([ask]))[0], 'each is answered');
  };
  /** The ends of a thousand children all lock their parent: one after the other. */
  const putMessage = together(
    (asked: readonly NewMessage[]) => session.transaction((db) => putMessages(db, asked)),
    { abreast: 1 },
  );
  const putSchedule = together((puts: readonly SchedulePut[]) => putSchedules(listed, puts), { abreast: 1 });
  const putEffect = together((results: readonly EffectResult[]) => putEffects(session, results), {
    weigh: ({ result }) => weightOf(result?.length ?? 0),
  });
  const readLog = together((pages: readonly LogPage[]) => logs(listed, pages), {
    most: MOST_ROWS,
    weigh: ({ limit }) => limit,
  });
  const unreadable = new UnreadableJobs();
  const hints = {
    skip: new SkipAhead(),
    few: new FewFirst(),
    reading: new ReadAhead(),
    gateTurns: new GateTurns(),
    unreadable,
  };

  return {
    commit: (items) => (items.length === 0 ? single.now().then(nothing) : commit(items)),
    commitWithin: (tx, items) => commitWithin(session, tx, items),
    begin: () => begin(session),
    claim: (request) => claim(session, hints, request),
    beat(beating) {
      session.recent.begin();
      return session.leasing((db) => beat(db, beating));
    },
    resign: (worker) => session.leasing((db) => resign(db, worker)),
    async orphans(page) {
      unreadable.tell();
      return session.transaction((db) => orphans(db, unreadable, page));
    },
    putEffect,
    putMessage,
    effects: (jobId) => effects(single, jobId),
    inbox: together((jobIds: readonly string[]) => inboxes(listed, jobIds), { most: MOST_LOADED }),
    load: together((jobIds: readonly string[]) => loadEach(listed, jobIds), { most: MOST_LOADED }),
    resolve: async (wanted) => ({ now: await single.now(), jobIds: await ownersOf(listed, wanted) }),
    log: (jobId, page) => readLog({ jobId, ...page }),
    due: (page) => due(listed, page),
    list: (filter) => list(session, filter),
    counts: (filter) => counts(watched, filter),
    feed: (page) => feed(listed, page),
    feedEnd: () => feedEnd(single),
    feedHeldBack: () => feedHeldBack(single),
    heads: (page) => heads(single, page),
    retrying: (filter) => retrying(listed, filter),
    countLive: (filter) => countLive(listed, filter),
    liveCounts: () => liveCounts(watched),
    dlqOpen: () => dlqOpen(listed),
    dlq: (filter) => dlq(watched, filter),
    dlqItem: (dlqId) => dlqItem(single, dlqId),
    dlqEntered: (filter) => dlqEntered(listed, filter),
    putDlqItem: (item) => putDlqItem(single, item),

    workers: (filter) => workers(single, filter),
    unread: (page) => unread(listed, page),
    hold: (held) => hold(single, held),
    release: (jobIds) => release(single, jobIds),
    heldFor: (jobId) => heldFor(single, jobId),
    pauseQueue: (pause) => pauseQueue(single, pause),
    pausedQueues: () => pausedQueues(single),
    putSchedule: (row, expected, known) =>
      known ? session.transaction((db) => makeKnown(db, row, known)) : putSchedule({ row, expected }),
    deleteSchedule: (ref) => deleteSchedule(single, ref),
    schedule: (ref) => schedule(single, ref),
    schedules: (filter) => schedules(single, filter),
    dueSchedules: (page) => dueSchedules(listed, page),
    putRecord: (row, expected, mail = []) =>
      mail.length === 0
        ? putRecord(single, row, expected)
        : session.transaction((db) => putRecord(db, row, expected, mail)),
    record: (ref) => record(single, ref),
    records: (filter) => records(single, filter),
    deleteRecord: (ref) => deleteRecord(single, ref),
    takeOutbox: (page) => takeOutbox(listed, page),
    settleOutbox: (outcomes) => session.transaction((db) => settleOutbox(db, outcomes)),
    deadOutbox: (page) => deadOutbox(single, page),
    aged: (page) => aged(single, page),
    purge: (asked) => session.ending((db) => purge(db, asked)),
    strays: (page) => strays(listed, page),
    wake: wakeUps.wake,
    listen: wakeUps.listen,
    async close() {
      await wakeUps.stop();
      await session.close();
    },
  };
}
