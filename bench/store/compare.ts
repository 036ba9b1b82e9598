import { rateOf, ratiosOf, spreadOf } from '../harness/statistics.js';
import type { RawDatabase } from '../raw/raw-database.js';
import type { CommitItem } from '../../src/ports/store.js';

/**
 * How a store does beside raw SQL, over several rounds in one run. `and the kernel`: with the time that it takes to make
 * the commits that end jobs. `reopened`: claiming and finishing what another store has created, so that nothing of it is
 * remembered.
 */
export type Round = Record<
  'create' | 'raw create' | 'claim + complete' | 'and the kernel' | 'reopened' | 'raw claim + complete',
  number
>;

const BARS = [
  ['create', 'raw create', 0.5],
  ['claim + complete', 'raw claim + complete', 0.6],
  ['and the kernel', 'raw claim + complete', null],
  ['reopened', 'raw claim + complete', null],
] as const;

const show = (rate: number): string => `${Math.round(rate).toLocaleString('en')}/s`.padStart(10);

/** The same items through raw SQL. */
export async function rawRates(
  raw: RawDatabase,
  items: readonly CommitItem[],
  batch: number,
): Promise<Pick<Round, 'raw create' | 'raw claim + complete'>> {
  const link = items[0]?.link ?? '';
  const created = await rateOf(items.length, () => raw.create(items, batch));
  const finished = await rateOf(items.length, () => raw.finish(items.length, { batch, link }));
  await raw.close();
  return { 'raw create': created, 'raw claim + complete': finished };
}

/** Prints medians and ratios. False: a bar was missed. */
export function report(rounds: readonly Round[]): boolean {
  let met = true;
  for (const [name, beside, bar] of BARS) {
    const [ours, theirs] = [rounds.map((one) => one[name]), rounds.map((one) => one[beside])];
    const { median, least, most } = spreadOf(ratiosOf(ours, theirs));
    const missed = bar !== null && median < bar;
    const verdict = bar === null ? '' : `, bar ${bar}${missed ? ': MISSED' : ''}`;
    met &&= !missed;
    console.log(
      `${name.padEnd(17)} ${show(spreadOf(ours).median)}  raw ${show(spreadOf(theirs).median)}  ratio ${median.toFixed(2)} (${least.toFixed(2)} to ${most.toFixed(2)})${verdict}`,
    );
  }
  return met;
}
