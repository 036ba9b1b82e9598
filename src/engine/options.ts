import { PawlError } from '../errors.js';
import { didYouMean } from './did-you-mean.js';
import type { Check } from './option-checks.js';

type NameOf<T> = T extends unknown ? keyof T & string : never;

/** What a call takes, or a definition: every option that it has, which the compiler sees to. */
export class Options<T> {
  readonly #checks: ReadonlyMap<string, Check>;
  readonly #required: readonly string[];

  constructor(checks: Readonly<Record<NameOf<T>, Check>>) {
    const all = Object.entries<Check>(checks);
    this.#checks = new Map(all);
    this.#required = all.filter(([, check]) => check(undefined) !== null).map(([name]) => name);
  }

  /**
   * Throws INVALID_OPTION for one that there is not, and for a value that cannot be. The compiler tells most callers before; but where it
   * is not asked, a misspelt `idempotencyKey` that was passed over in silence would be a second charge. `at`: where among the options of
   * `whose` these stand, with a dot behind it.
   */
  expect(given: unknown, whose: string, at = ''): void {
    if (typeof given !== 'object' || given === null) {
      const option = at === '' ? 'options' : at.slice(0, -1);
      throw invalidOption(option, `${option} of ${whose}: ${kindOf(given)} is no object`);
    }
    const values = given as Readonly<Record<string, unknown>>;
    for (const name in values) {
      const check = this.#checks.get(name);
      if (check === undefined) throw this.#noSuch(name, whose, at);
      const problem = values[name] === undefined ? null : check(values[name]);
      if (problem === null) continue;
      const found = `${at}${name} of ${whose} is ${shown(values[name])}`;
      throw invalidOption(at + name, `${found}, which is ${problem}`);
    }
    for (const name of this.#required) {
      if (values[name] === undefined) throw invalidOption(at + name, `${at}${name} of ${whose} is missing`);
    }
  }

  #noSuch(name: string, whose: string, at: string): PawlError {
    const known = [...this.#checks.keys()];
    const meant = didYouMean(name, known) || `: there are ${known.join(', ')}`;
    return invalidOption(at + name, `${whose} has no option '${at}${name}'${meant}`);
  }
}

export function invalidOption(option: string, detail: string): PawlError {
  return new PawlError('INVALID_OPTION', { detail, details: { option } });
}

/** For what may be somebody's payload, which is nobody else's to read. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? 'a list' : `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`;
}

const MOST_SHOWN = 60;

/** A value of whatever kind, short enough for a sentence. */
export function shown(value: unknown): string {
  const said = typeof value === 'function' ? 'a function' : (asJson(value) ?? String(value));
  return said.length > MOST_SHOWN ? `${said.slice(0, MOST_SHOWN)}…` : said;
}

/** What refers to itself has no JSON, nor has a number that is too large for it. */
function asJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return typeof value === 'bigint' ? `${value}` : 'an object';
  }
}
