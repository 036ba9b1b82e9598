import { PawlError } from '../errors.js';

/** More than this and the process only fills its memory with what the database cannot take. */
const MOST_WAITING = 50_000;

/**
 * From so many on, what waits is shared out among the groups that may be under way at once: while the database works on one,
 * those who were in the other ask again. In one group they would all wait, and then all ask (decision 32).
 */
const WORTH_SHARING = 32;

/** So many do not wait for the end of the turn, which may be long in coming: the database works on them while the rest of it goes on. */
const CROWD = 250;

/** Where the database is this process, so many that come alone, one after the other, are run before the event loop gets its turn. */
const MOST_IN_A_ROW = 8;

/** Some may take longer than the rest. */
export type Answers<Answer> = readonly (Answer | Promise<Answer>)[];

export type GroupOptions<Ask> = {
  /** How many a group has at most. */
  readonly most: number;
  /** As how many an ask counts: more than one if it, or its answer, is large. */
  readonly weigh?: ((ask: Ask) => number) | undefined;
  readonly abreast?: number;
  /**
   * Only a crowd goes beside another group, and without waiting for the end of the turn; a few wait until that is answered, as where the
   * database is this process. For a database that may be either (decision 60).
   */
  readonly onlyCrowds?: boolean;
  readonly mostWaiting?: number;
};

/**
 * Collects what is asked for within one turn of the event loop and runs it together. An idle process waits for
 * nothing but the end of the turn, or less; under load the group grows by itself. What one caller asks for together stays
 * together and in order, in one group or in several that follow each other. `abreast`: how many groups may be under way
 * at once, if the database is another process; they are of different callers, none of whom waits for another.
 */
export function groupCommit<Ask, Answer>(
  run: (asks: readonly Ask[]) => Answers<Answer> | Promise<Answers<Answer>>,
  options: GroupOptions<Ask>,
): (asks: readonly Ask[]) => Promise<readonly Answer[]> {
  return groupReplies(run, (answers) => answers, options);
}

/** The same, where a caller is told something else than its answers: it need not wait for another promise. */
export function groupReplies<Ask, Answer, Reply>(
  run: (asks: readonly Ask[]) => Answers<Answer> | Promise<Answers<Answer>>,
  replyOf: (answers: readonly Answer[]) => Reply,
  { most, weigh, abreast = 1, onlyCrowds = false, mostWaiting = MOST_WAITING }: GroupOptions<Ask>,
): (asks: readonly Ask[]) => Promise<Reply> {
  type Waiting = {
    readonly asks: readonly Ask[];
    readonly resolve: (reply: Reply) => void;
    readonly reject: (error: unknown) => void;
  };
  const queue: Waiting[] = [];
  let waiting = 0;
  let underWay = 0;
  /** More is begun soon. */
  let isDue = false;
  /** How many callers have come alone since the event loop had its turn. After several at once: as many as may. */
  let inARow = MOST_IN_A_ROW;

  /** At least one caller's, and as many more as fit. */
  function takeGroup(): Waiting[] {
    const groups = waiting < WORTH_SHARING ? 1 : abreast - underWay;
    const share = Math.min(most, Math.ceil(waiting / groups));
    let count = 0;
    let weight = 0;
    const fits = queue.findIndex(({ asks }) => {
      count += asks.length;
      if (weigh) for (const ask of asks) weight += weigh(ask);
      return count > share || weight > most;
    });
    const group = queue.splice(0, fits < 0 ? queue.length : Math.max(1, fits));
    for (const { asks } of group) waiting -= asks.length;
    return group;
  }

  /** Where the part of a caller's asks ends that begins here: as many as may go together, and at least one. */
  function endOfPart(asks: readonly Ask[], from: number): number {
    const limit = Math.min(asks.length, from + most);
    if (!weigh) return limit;
    let weight = 0;
    for (let at = from; at < limit; at++) {
      weight += weigh(asks[at] as Ask);
      if (weight > most && at > from) return at;
    }
    return limit;
  }

  async function runInParts(asks: readonly Ask[]): Promise<Answers<Answer>> {
    const answers: (Answer | Promise<Answer>)[] = [];
    for (let from = 0, to = 0; from < asks.length; from = to) {
      to = endOfPart(asks, from);
      // Where the database is this process, nothing else has had a turn: a lease could run out over many parts.
      if (from > 0 && abreast === 1) await new Promise<void>((resolve) => void setImmediate(resolve));
      const part = await run(asks.slice(from, to));
      // One that fails before the last part is answered is reported with it, and is no stray rejection until then.
      for (const answer of part) if (answer instanceof Promise) answer.catch(() => undefined);
      answers.push(...part);
    }
    return answers;
  }

  async function serve(group: readonly Waiting[]): Promise<void> {
    underWay += 1;
    const asks = group.length === 1 ? (group[0] as Waiting).asks : group.flatMap((caller) => caller.asks);
    try {
      // Those of several callers were chosen so that they may go together.
      const isTooMuch = group.length === 1 && endOfPart(asks, 0) < asks.length;
      const running = isTooMuch ? runInParts(asks) : run(asks);
      const answers = running instanceof Promise ? await running : running;
      let from = 0;
      for (const caller of group) {
        settle(caller, group.length === 1 ? answers : answers.slice(from, (from += caller.asks.length)));
      }
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
    underWay -= 1;
    // Those who have just been answered may ask again: they go with what waits already, instead of behind it.
    beginSoon();
  }

  /** What takes longer than the rest holds up nobody but whoever asked for it. */
  function settle({ resolve, reject }: Waiting, own: Answers<Answer>): void {
    if (own.some((one) => one instanceof Promise))
      Promise.all(own).then((answers) => resolve(replyOf(answers)), reject);
    else resolve(replyOf(own as readonly Answer[]));
  }

  /** The database is another process. */
  const isElsewhere = abreast > 1 && !onlyCrowds;
  const mayBegin = (): boolean => !onlyCrowds || underWay === 0 || waiting >= WORTH_SHARING;

  function begin(): void {
    while (queue.length > 0 && underWay < abreast && mayBegin()) void serve(takeGroup());
  }

  /**
   * At once if it is a crowd, else with the end of the turn. A database that has nothing to do is asked as soon as this callback is
   * through: a turn of the event loop is a fourteenth of a step's time. Where the database is this process, only what comes
   * alone, as it does while steps follow each other, and not without end: the event loop would never get its turn. Where only crowds go
   * beside another group, they do not wait either: those who are answered later in the turn would ask again with them, and both groups
   * go, and wait, in step.
   */
  function beginSoon(): void {
    if (queue.length === 0 || underWay === abreast) return;
    if (waiting >= CROWD && abreast > 1) begin();
    else if (!isDue) {
      isDue = true;
      const isEarly = underWay > 0 ? onlyCrowds : isElsewhere || inARow < MOST_IN_A_ROW;
      if (isEarly) process.nextTick(beginEarly);
      else setImmediate(beginInTurn);
    }
  }

  const beginEarly = (): void => beginDue(inARow + 1);
  const beginInTurn = (): void => beginDue(0);

  function beginDue(alone: number): void {
    isDue = false;
    if (!mayBegin()) return;
    inARow = queue.length === 1 ? alone : MOST_IN_A_ROW;
    begin();
  }

  return (asks) =>
    new Promise((resolve, reject) => {
      if (waiting + asks.length > mostWaiting && queue.length > 0) {
        reject(new PawlError('STORE_BUSY', { detail: `${waiting} requests are waiting for the database` }));
        return;
      }
      waiting += asks.length;
      queue.push({ asks, resolve, reject });
      beginSoon();
    });
}
