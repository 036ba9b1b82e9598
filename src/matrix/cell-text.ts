import { GUARANTEE_IDS } from './cells.js';
import type { Cell, Row } from './outcome.js';

/** A cell in one sign and the fewest words. */
export function signOf({ state, said: { claim } }: Cell): string {
  if (state === 'fails') return 'FAIL';
  if (state === 'not proven') return 'not proven';
  if (state === 'n/a') return '–';
  if (claim === 'resend') return 'resend';
  if (claim === 'not while down') return '✗ down';
  return claim === 'lost' ? '✗ lost' : '✓';
}

/** What a cell rests on: how many trials, what was counted, and what is wrong. */
export function evidenceOf({ state, said, trials, counted, problems }: Cell): string {
  const numbers = Object.entries(counted).map(([name, count]) => `${count} ${name}`);
  const looked =
    trials === 0
      ? 'nothing was looked at'
      : `${trials} ${trials === 1 ? 'trial' : 'trials'}: ${numbers.join(', ')}`;
  const words = said.words === '' ? '' : `${said.words}; `;
  if (state === 'fails') return `${looked}; ${distinct(problems).join('; ')}`;
  if (state === 'n/a') return `not claimed; ${looked}, nothing wrong`.replace(/nothing was.*/, looked);
  return `${words}${looked}`;
}

/** Each with how often it came. */
function distinct(problems: readonly string[]): string[] {
  const times = new Map<string, number>();
  for (const problem of problems) times.set(problem, (times.get(problem) ?? 0) + 1);
  return [...times].map(([problem, count]) => (count === 1 ? problem : `${problem} (${count} times)`));
}

/** How a fault was brought about, each way with how often it was. */
export function waysOf({ how }: Row): string[] {
  return distinct(how);
}

export function signsOf({ cells }: Row): string[] {
  return GUARANTEE_IDS.map((id) => signOf(cells[id]));
}
