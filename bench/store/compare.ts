/**
 * How a store does beside raw SQL, over several rounds in one run. `reopened`: claiming and finishing what another store
 * has created, so that nothing of it is remembered.
 */
export type Round = Record<
  'create' | 'raw create' | 'claim + complete' | 'reopened' | 'raw claim + complete',
  number
>;

const BARS = [
  ['create', 'raw create', 0.5],
  ['claim + complete', 'raw claim + complete', 0.6],
  ['reopened', 'raw claim + complete', null],
] as const;

/** Per second. */
export async function rateOf(count: number, run: () => Promise<void> | void): Promise<number> {
  const start = process.hrtime.bigint();
  await run();
  return count / (Number(process.hrtime.bigint() - start) / 1e9);
}

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

const show = (rate: number): string => `${Math.round(rate).toLocaleString('en')}/s`.padStart(10);

/** Prints medians and ratios. False: a bar was missed. */
export function report(rounds: readonly Round[]): boolean {
  let met = true;
  for (const [name, beside, bar] of BARS) {
    const ratios = rounds.map((one) => one[name] / one[beside]);
    const ours = show(median(rounds.map((one) => one[name])));
    const raw = show(median(rounds.map((one) => one[beside])));
    const spread = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`;
    const missed = bar !== null && median(ratios) < bar;
    const verdict = bar === null ? '' : `, bar ${bar}${missed ? ': MISSED' : ''}`;
    met &&= !missed;
    console.log(
      `${name.padEnd(17)} ${ours}  raw ${raw}  ratio ${median(ratios).toFixed(2)} (${spread})${verdict}`,
    );
  }
  return met;
}
