import type { Act } from './act.js';
import type { Ground, Outcome, Pair } from './ground.js';
import { OPERATION_NAMES, type Actor, type Operation, type Plan, type Situation } from './situation.js';

type Serial = { readonly outcome: Outcome; readonly ends: number };
type Doing = { readonly name: Operation; readonly actor: Actor };

/** Runs pairs of operations on a ground and says where what came of them is not what a serial order gives. */
export class Judge {
  readonly #idle: Ground[];
  readonly #queue: ((ground: Ground) => void)[] = [];
  readonly #plans: ReadonlyMap<Situation, Plan>;
  readonly #serial = new Map<string, Promise<Serial>>();

  /** Pairs share the grounds: each has one to itself for as long as a run takes. */
  constructor(grounds: readonly Ground[], plans: ReadonlyMap<Situation, Plan>) {
    this.#idle = [...grounds];
    this.#plans = plans;
  }

  /** Where both can be sent and at least one is not already too late: there they meet. */
  situationsOf(first: Operation, second: Operation): Situation[] {
    const doing = actorsOf(first, second);
    return [...this.#plans].flatMap(([situation, { operations }]) => {
      const prepared = doing.map(({ name, actor }) => operations[name][actor]);
      const canBeSent = prepared.every(({ act }) => act.kind !== 'refused');
      return canBeSent && prepared.some(({ fresh }) => fresh) ? [situation] : [];
    });
  }

  /** What went wrong, in words; nothing if every race came to what a serial order comes to. */
  async problemsOf(situation: Situation, names: readonly [Operation, Operation]): Promise<string[]> {
    const [first, second] = actorsOf(...names);
    const inTurn = await this.#inOrder(situation, first, second);
    const reversed = swapped((await this.#inOrder(situation, second, first)).outcome);
    const pair = this.#pairOf(situation, first, second);
    const allowed = [inTurn.outcome, reversed];
    const problems: string[] = [];
    for (const { title, outcome } of await this.#on((ground) => ground.races(pair, inTurn.ends))) {
      if (allowed.some((serial) => same(serial, outcome))) continue;
      if (tookNothing(outcome) && same(await this.#without(pair, outcome), outcome)) continue;
      const differences = [
        differencesOf('the first, then the second', inTurn.outcome, outcome),
        differencesOf('the second, then the first', reversed, outcome),
      ];
      problems.push([`${situation}, ${names[0]} ${title}`, ...differences].join('\n'));
    }
    return problems;
  }

  async #on<T>(run: (ground: Ground) => Promise<T>): Promise<T> {
    const ground =
      this.#idle.pop() ?? (await new Promise<Ground>((resolve) => void this.#queue.push(resolve)));
    try {
      return await run(ground);
    } finally {
      const next = this.#queue.shift();
      if (next) next(ground);
      else this.#idle.push(ground);
    }
  }

  #inOrder(situation: Situation, first: Doing, second: Doing): Promise<Serial> {
    const id = JSON.stringify([situation, first, second]);
    const known =
      this.#serial.get(id) ?? this.#on((ground) => ground.serial(this.#pairOf(situation, first, second)));
    this.#serial.set(id, known);
    return known;
  }

  #pairOf(situation: Situation, first: Doing, second: Doing): Pair {
    const plan = this.#plans.get(situation);
    if (!plan) throw new Error(`no plan for ${situation}`);
    const actOf = ({ name, actor }: Doing): Act => plan.operations[name][actor].act;
    return { build: plan.build, first: actOf(first), second: actOf(second) };
  }

  /**
   * A claim passes over a job that someone else is at, and finds it with its next look: one that took nothing is as
   * though it had not been there. Then nothing may differ from what the other operation does alone.
   */
  async #without(pair: Pair, outcome: Outcome): Promise<Outcome> {
    const nothing: Act = { kind: 'refused', why: 'took nothing' };
    const alone = took(outcome['one']) === 0 ? { ...pair, first: nothing } : { ...pair, second: nothing };
    const serial = (await this.#on((ground) => ground.serial(alone))).outcome;
    return alone.first === nothing ? { ...serial, one: outcome['one'] } : { ...serial, two: outcome['two'] };
  }
}

/** The same inputs whichever goes first, so that both orders of a pair have the same serial outcomes. */
function actorsOf(first: Operation, second: Operation): [Doing, Doing] {
  const inTurn = OPERATION_NAMES.indexOf(first) <= OPERATION_NAMES.indexOf(second);
  return [
    { name: first, actor: inTurn ? 'one' : 'two' },
    { name: second, actor: inTurn ? 'two' : 'one' },
  ];
}

const swapped = (outcome: Outcome): Outcome => ({ ...outcome, one: outcome['two'], two: outcome['one'] });

/** How many jobs a claim's reply gives; null for other replies, and for a worker that is dead. */
function took(reply: unknown): number | null {
  const isClaim = typeof reply === 'object' && reply !== null && 'jobs' in reply && 'alive' in reply;
  return isClaim && reply.alive === true && Array.isArray(reply.jobs) ? reply.jobs.length : null;
}

const tookNothing = ({ one, two }: Outcome): boolean => took(one) === 0 || took(two) === 0;

/** As text: what came from another process has been through it already. */
const textOf = (value: unknown): string => JSON.stringify(value) ?? 'nothing';
const same = (a: Outcome, b: Outcome): boolean =>
  Object.keys({ ...a, ...b }).every((key) => textOf(a[key]) === textOf(b[key]));

const MOST_TEXT = 400;

function differencesOf(order: string, serial: Outcome, outcome: Outcome): string {
  const lines = Object.keys(outcome)
    .filter((key) => textOf(serial[key]) !== textOf(outcome[key]))
    .map((key) => {
      const [expected, found] = [serial[key], outcome[key]].map((value) => textOf(value).slice(0, MOST_TEXT));
      return `    ${key}: ${found}\n      instead of ${expected}`;
    });
  return [`  differs from ${order} in`, ...lines].join('\n');
}
