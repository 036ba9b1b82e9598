import {
  CHAIN_START,
  chainLink,
  encodeEvents,
  evolveCommit,
  STANDING_EVENTS,
  type Command,
  type DlqItem,
  type Event,
} from '../kernel/index.js';
import type { CommitItem, EntryRef, Identity, Loaded, NewOutboxEntry } from '../ports/store.js';
import { chainHash } from './sha256.js';

/** What a commit may bring along besides its events. */
export type Extras = {
  readonly attemptId?: string | null;
  readonly inboxRev?: number | null;
  readonly noResultOf?: EntryRef | null;
  readonly identities?: readonly Identity[];
  readonly dlqItem?: DlqItem | null;
  readonly consumed?: readonly string[];
  readonly outbox?: readonly NewOutboxEntry[];
  readonly takesOver?: boolean;
};

const NONE: readonly never[] = [];

const standsWhileRunning = ({ type }: Event): boolean => STANDING_EVENTS[type]?.includes('running') ?? false;

/** What was decided, and on what: `commands` are those that led to the events, in order. */
export type Decided = {
  readonly jobId: string;
  readonly commandId: string;
  readonly events: readonly Event[];
  readonly commands?: readonly Command[];
};

/**
 * The kernel's events as a store takes them: encoded, linked to the log's head, with the job that they make.
 * Step records leave the job's row alone, which is what makes them cheap.
 */
export function prepareCommit(
  head: Loaded | null,
  { jobId, commandId, events, commands = NONE }: Decided,
  {
    attemptId = null,
    inboxRev = null,
    noResultOf = null,
    identities = NONE,
    dlqItem = null,
    consumed = NONE,
    outbox = NONE,
    takesOver = false,
  }: Extras = {},
): CommitItem {
  const rev = (head?.job.rev ?? 0) + 1;
  const body = encodeEvents(events);
  const link = chainLink(chainHash, head?.link ?? CHAIN_START, { jobId, rev, commandId, body });
  const running = head?.job.status === 'running';
  const isStepRecord = running && events.every(standsWhileRunning);
  const job = isStepRecord ? null : evolveCommit(head && head.job, { events });
  return {
    jobId,
    rev,
    commandId,
    body,
    link,
    job,
    attemptId,
    inboxRev,
    noResultOf,
    identities,
    dlqItem,
    consumed,
    outbox,
    commands,
    takesOver,
  };
}
