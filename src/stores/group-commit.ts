import { PawlError } from '../errors.js';

/** More than this and the process only fills its memory with what the database cannot take. */
const MOST_WAITING = 50_000;

/**
 * From so many on, what waits is shared out among the groups that may be under way at once: while the database works on one,
 * those who were in the other ask again. In one group they would all wait, and then all ask (decision 32).
 */
const WORTH_SHARING = 32;

/**
 * Collects what is asked for within one turn of the event loop and runs it together. An idle process waits for
 * nothing but the end of the turn; under load the group grows by itself. What one caller asks for together stays
 * together and in order, in one group or in several that follow each other. `abreast`: how many groups may be under way
 * at once; they are of different callers, none of whom waits for another.
 */
export function groupCommit<Ask, Answer>(
  run: (asks: readonly Ask[]) => Promise<readonly (Answer | Promise<Answer>)[]>,
  { most, abreast = 1, mostWaiting = MOST_WAITING }: { most: number; abreast?: number; mostWaiting?: number },
): (asks: readonly Ask[]) => Promise<readonly Answer[]> {
  type Waiting = {
    readonly asks: readonly Ask[];
    readonly resolve: (answers: readonly Answer[]) => void;
    readonly reject: (error: unknown) => void;
  };
  const queue: Waiting[] = [];
  let waiting = 0;
  /** How many take groups, how many of these wait for the answers to one, and whether one more is about to begin. */
  let running = 0;
  let underWay = 0;
  let isDue = false;

  /** At least one caller's, and as many more as fit. */
  function takeGroup(): Waiting[] {
    const groups = waiting < WORTH_SHARING ? 1 : abreast - underWay;
    const share = Math.min(most, Math.ceil(waiting / groups));
    let count = 0;
    const fits = queue.findIndex(({ asks }) => (count += asks.length) > share);
    const group = queue.splice(0, fits < 0 ? queue.length : Math.max(1, fits));
    for (const { asks } of group) waiting -= asks.length;
    return group;
  }

  async function runAll(asks: readonly Ask[]): Promise<readonly (Answer | Promise<Answer>)[]> {
    if (asks.length <= most) return run(asks);
    const answers: (Answer | Promise<Answer>)[] = [];
    for (let i = 0; i < asks.length; i += most) {
      const part = await run(asks.slice(i, i + most));
      // One that fails before the last part is answered is reported with it, and is no stray rejection until then.
      for (const answer of part) if (answer instanceof Promise) answer.catch(() => undefined);
      answers.push(...part);
    }
    return answers;
  }

  async function drain(): Promise<void> {
    while (queue.length > 0) {
      const group = takeGroup();
      if (queue.length > 0) startSoon();
      underWay += 1;
      try {
        const answers = await runAll(
          group.length === 1 ? (group[0] as Waiting).asks : group.flatMap(({ asks }) => asks),
        );
        let from = 0;
        for (const { asks, resolve, reject } of group) {
          // An answer that takes longer than the rest holds up nobody but whoever asked for it.
          const own = answers.slice(from, (from += asks.length));
          if (own.some((answer) => answer instanceof Promise)) Promise.all(own).then(resolve, reject);
          else resolve(own as Answer[]);
        }
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
      underWay -= 1;
      // Those who have just been answered may ask again: they go with what waits already, instead of behind it.
      await endOfTurn();
    }
    running -= 1;
  }

  /** With the end of the turn, if another may be under way. */
  function startSoon(): void {
    if (isDue || running === abreast) return;
    isDue = true;
    setImmediate(() => {
      isDue = false;
      running += 1;
      void drain();
    });
  }

  return (asks) =>
    new Promise((resolve, reject) => {
      if (waiting + asks.length > mostWaiting && queue.length > 0) {
        reject(new PawlError('STORE_BUSY', { detail: `${waiting} commits are waiting to be saved` }));
        return;
      }
      waiting += asks.length;
      queue.push({ asks, resolve, reject });
      startSoon();
    });
}

function endOfTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
