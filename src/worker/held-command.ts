import type { Extras } from '../engine/prepare-commit.js';
import type { Command, Decision, Event, Job } from '../kernel/index.js';
import type { CommitItem, CommitReply } from '../ports/store.js';

type Without<C> = C extends Command ? Omit<C, 'now' | 'actor' | 'attemptId'> : never;
/** A command of the holder, but for what every one of them carries. */
export type HeldCommand = Without<Extract<Command, { attemptId: string }>>;

export type GiveOptions = {
  readonly extras?: Extras;
  /** Sent by itself, and decided on anew by the caller if the store answers that something moved. */
  readonly alone?: boolean;
  /** How it is saved, if not by itself: within a transaction. Null: that was undone, and whoever asked knows why. */
  readonly save?: (item: CommitItem) => Promise<CommitReply | null>;
};

/** `moved`: what the decision had looked at has changed since, or what was to be saved with it was undone. */
export type Answer = Decision | { readonly ok: false; readonly code: 'MOVED' };

/** A command, and who is told the answer. */
export type Asked = {
  readonly command: HeldCommand;
  readonly options: GiveOptions;
  readonly hear: (answer: Answer) => void;
};

/** What became of some commands together. */
export type Decided = {
  readonly decisions: readonly Decision[];
  readonly commands: readonly Command[];
  readonly events: readonly Event[];
  /** The job after them; null while they are not applied. */
  readonly after: Job | null;
};
