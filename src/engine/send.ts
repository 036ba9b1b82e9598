import { PawlError } from '../errors.js';
import { must } from '../kernel/index.js';
import type { CommitItem, CommitReplies, CommitReply } from '../ports/store.js';
import type { Engine } from './engine.js';
import { pause } from './pause.js';
import { backoffMs } from './repeat.js';

/** Asked before each repetition whether there is to be one. */
export type Patience = { goOn(): boolean };

/**
 * Sends commits until they are answered. After an unknown outcome the same ones are sent again, for only the store can
 * tell whether they were saved, and it answers as it did first. Throws APP_CLOSED if the application is closed before there is an
 * answer.
 */
export function send(
  engine: Engine,
  items: readonly CommitItem[],
  patience: Patience,
): Promise<CommitReplies> {
  const ask = (): Promise<CommitReplies> => engine.store.commit(items);
  return ask().catch((error: unknown) => askAgain(engine, ask, { patience, error }));
}

/** The same with one. */
export function sendOne(engine: Engine, item: CommitItem, patience: Patience): Promise<CommitReply> {
  return new Promise((hear, fail) => {
    tellOne(engine, item, { patience, hear, fail });
  });
}

type Told = {
  readonly patience: Patience;
  readonly hear: (reply: CommitReply) => void;
  /** Also of what was thrown as the reply was heard. */
  readonly fail: (error: unknown) => void;
};

/** The same without a promise, for what comes by the thousand. */
export function tellOne(engine: Engine, item: CommitItem, { patience, hear, fail }: Told): void {
  const ask = (): Promise<CommitReplies> => engine.store.commit([item]);
  const told = (replies: CommitReplies): void => {
    try {
      hear(first(replies));
    } catch (error) {
      fail(error);
    }
  };
  const again = (error: unknown): void => void askAgain(engine, ask, { patience, error }).then(told, fail);
  void ask().then(told, again);
}

const first = ({ replies }: CommitReplies): CommitReply => must(replies[0], 'each commit is answered');

/** Makes sure that this process knows who wants to hear of what it is about to change. */
export async function hearSubscribers(
  engine: Engine,
  patience: Patience = callersPatience(engine),
): Promise<void> {
  const ask = (): Promise<void> => engine.subscriptions.refreshIfStale();
  await ask().catch((error: unknown) => askAgain(engine, ask, { patience, error }));
}

async function askAgain<T>(
  engine: Engine,
  ask: () => Promise<T>,
  { patience, error }: { patience: Patience; error: unknown },
): Promise<T> {
  let last = error;
  for (let failures = 1; ; failures++) {
    if (!(last instanceof PawlError && last.retryable) || !patience.goOn()) throw last;
    await pause(engine, backoffMs(engine, failures));
    try {
      return await ask();
    } catch (again) {
      last = again;
    }
  }
}

/** How long a caller outside of a job waits for a store that does not answer, before it is told so. */
const PATIENCE_MS = 10_000;

export function callersPatience({ clock }: Engine): Patience {
  const until = clock.elapsed() + PATIENCE_MS;
  return { goOn: () => clock.elapsed() < until };
}
