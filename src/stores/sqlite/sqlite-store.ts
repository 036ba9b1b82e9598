import { PawlError } from '../../errors.js';
import type { StoreClock } from '../../ports/clock.js';
import type { CommitItem, CommitReply, EffectResult, NewMessage, Store } from '../../ports/store.js';
import { GateTurns } from '../gate-turns.js';
import { groupCommit, groupReplies } from '../group-commit.js';
import type { MigrationMode } from '../migration.js';
import { ReadAhead } from '../read-ahead.js';
import { UnreadableJobs } from '../unreadable-jobs.js';
import { claim } from './claim.js';
import { ownerOf, saveGroup } from './commit.js';
import { heldFor, hold, pausedQueues, pauseQueue, release } from './controls.js';
import { Crowds, CROWDS, type CrowdsOptions } from './crowds.js';
import { dlq, dlqItem, putDlqItem } from './dlq.js';
import type { Database } from './driver.js';
import { beat, orphans, resign, workers } from './leases.js';
import { list } from './list-jobs.js';
import { load } from './load.js';
import { effects, inbox, putEffect, putMessage, unread } from './mailbox.js';
import { migrate } from './migrate.js';
import type { NewJob } from './new-jobs.js';
import { openFile } from './open-file.js';
import { deadOutbox, settleOutbox, takeOutbox } from './outbox.js';
import { aged, purge } from './purge.js';
import { heads } from './heads.js';
import { due, feed, feedEnd, log } from './reads.js';
import { QuietCheckpoints } from './quiet-checkpoints.js';
import { deleteRecord, putRecord, record, records } from './records.js';
import {
  deleteSchedule,
  dueSchedules,
  putSchedule,
  schedule,
  schedules,
  type SchedulePut,
} from './schedules.js';
import { sameFile } from './same-file.js';
import { Session } from './session.js';
import { strays } from './strays.js';
import { countLive, counts, dlqEntered, dlqOpen, liveCounts, retrying } from './tallies.js';
import { begin } from './transaction.js';
import { watchedWakeUps } from './wake-ups.js';

/** Commits in one transaction: more stall the event loop for longer, fewer sync the disk more often. */
const MOST_IN_GROUP = 500;
/** What has more characters counts for more: together they have four megabytes at most, which are written in a tenth of a second. */
const LONG = 8_192;
const weightOf = (item: CommitItem): number =>
  Math.max(1, (item.body.length + (item.dlqItem?.payload.length ?? 0)) / LONG);
/** One is written while the next is made. */
const CROWDS_ABREAST = 2;

export type SqliteOptions = {
  readonly path: string;
  readonly clock: StoreClock;
  readonly migrations?: MigrationMode;
  /** When new jobs are handed to a thread. */
  readonly crowds?: CrowdsOptions;
};

/** One file, which several processes may open. Everything that is acknowledged has been synced to disk. */
export async function sqliteStore({
  path,
  clock,
  migrations = 'migrate',
  crowds: when = CROWDS,
}: SqliteOptions): Promise<Store> {
  const prepare = (opened: Database): void => migrate(opened, migrations);
  const db = new Session(await openFile(path, { clock, prepare }), clock, sameFile(path));
  const checkpoints = new QuietCheckpoints(db, clock);
  db.onCommit = checkpoints.committed;
  const { stop, isHere, ...wakeUps } = watchedWakeUps(db, { path, clock });
  const crowds = new Crowds(db, path, when);
  if (when.after === 0) await crowds.begin();
  const replyOf = (replies: readonly CommitReply[]) => ({ now: db.now(), replies });
  const limits = { most: MOST_IN_GROUP, weigh: weightOf };
  const commit = groupReplies(
    (items: readonly CommitItem[]) => {
      crowds.see(items);
      return saveGroup(db, items);
    },
    replyOf,
    limits,
  );
  const commitCrowds = groupReplies((items: readonly NewJob[]) => crowds.save(items), replyOf, {
    ...limits,
    abreast: CROWDS_ABREAST,
    onlyCrowds: true,
  });
  const unreadable = new UnreadableJobs();
  const hints = { reading: new ReadAhead(), unreadable, gateTurns: new GateTurns() };
  /** For what comes in crowds, such as the ends of a thousand children, or as many firings: one sync of the disk for many. */
  const together = <Ask, Answer>(write: (ask: Ask) => Answer): ((ask: Ask) => Promise<Answer>) => {
    const group = groupCommit<Ask, Answer>((asks) => db.write(() => asks.map(write)), {
      most: MOST_IN_GROUP,
    });
    return async (ask) => (await group([ask]))[0] as Answer;
  };
  const putSchedules = together((put: SchedulePut) => putSchedule(db, put));

  return {
    commit: (items) => (crowds.takes(items) ? commitCrowds(items) : commit(items)),
    commitWithin: () =>
      Promise.reject(new PawlError('TX_UNSUPPORTED', { detail: 'SQLite has no transaction to share' })),
    begin: async () => begin(db),
    claim: (request) => unreadable.claiming(request, () => db.write(() => claim(db, hints, request))),
    beat(beating) {
      isHere(beating.worker);
      db.recent.begin();
      return db.write(() => beat(db, beating));
    },
    resign: (worker) => db.write(() => resign(db, worker)),
    async orphans(page) {
      unreadable.tell();
      return db.write(() => orphans(db, unreadable, page));
    },
    putEffect: together((result: EffectResult) => putEffect(db, result)),
    putMessage: together((message: NewMessage) => putMessage(db, message)),
    effects: async (jobId) => effects(db, jobId),
    inbox: async (jobId) => inbox(db, jobId),
    load: async (jobId) => ({ now: db.now(), found: load(db, jobId) }),
    resolve: async (wanted) => ({ now: db.now(), jobIds: wanted.map((identity) => ownerOf(db, identity)) }),
    log: async (jobId, page) => log(db, jobId, page),
    due: async (page) => due(db, page),
    list: (filter) => list(db, filter),
    counts: async (filter) => counts(db, filter),
    feed: async (page) => feed(db, page),
    feedEnd: async () => feedEnd(db),
    // One writes at a time, and its rows are numbered as they come.
    feedHeldBack: async () => ({ now: db.now(), since: null }),
    heads: async (page) => heads(db, page),
    retrying: async (filter) => retrying(db, filter),
    countLive: async (filter) => countLive(db, filter),
    liveCounts: async () => liveCounts(db),
    dlqOpen: async () => dlqOpen(db),
    dlq: async (filter) => dlq(db, filter),
    dlqItem: async (dlqId) => dlqItem(db, dlqId),
    dlqEntered: async (filter) => dlqEntered(db, filter),
    putDlqItem: (item) => db.write(() => putDlqItem(db, item)),

    workers: async (filter) => workers(db, filter),
    unread: async (page) => unread(db, page),
    hold: (held) => db.write(() => hold(db, held)),
    release: (jobIds) => db.write(() => release(db, jobIds)),
    heldFor: async (jobId) => heldFor(db, jobId),
    pauseQueue: (pause) => db.write(() => pauseQueue(db, pause)),
    pausedQueues: async () => pausedQueues(db),
    putSchedule: (row, expected, known) => putSchedules({ row, expected, known }),
    deleteSchedule: (ref) => db.write(() => deleteSchedule(db, ref)),
    schedule: async (ref) => schedule(db, ref),
    schedules: async (filter) => schedules(db, filter),
    dueSchedules: async (page) => dueSchedules(db, page),
    putRecord: (row, expected, mail) => db.write(() => putRecord(db, row, expected, mail)),
    record: async (ref) => record(db, ref),
    records: async (filter) => records(db, filter),
    deleteRecord: (ref) => db.write(() => deleteRecord(db, ref)),
    takeOutbox: (page) => db.write(() => takeOutbox(db, page)),
    settleOutbox: (outcomes) => db.write(() => settleOutbox(db, outcomes)),
    deadOutbox: async (page) => deadOutbox(db, page),
    aged: async (page) => aged(db, page),
    purge: (asked) => db.write(() => purge(db, asked)),
    strays: async (page) => strays(db, page),
    ...wakeUps,
    async close() {
      stop();
      checkpoints.stop();
      await crowds.close();
      await db.close();
    },
  };
}
