/** How a store does beside raw SQL, over several rounds in one run. */
export type Round = Record<'create' | 'raw create' | 'claim + complete' | 'raw claim + complete', number>;

const BARS = [
  ['create', 0.5],
  ['claim + complete', 0.6],
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
  for (const [name, bar] of BARS) {
    const ratios = rounds.map((one) => one[name] / one[`raw ${name}`]);
    const ours = show(median(rounds.map((one) => one[name])));
    const raw = show(median(rounds.map((one) => one[`raw ${name}`])));
    const spread = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`;
    const verdict = median(ratios) >= bar ? '' : ': MISSED';
    met &&= verdict === '';
    console.log(
      `${name.padEnd(17)} ${ours}  raw ${raw}  ratio ${median(ratios).toFixed(2)} (${spread}), bar ${bar}${verdict}`,
    );
  }
  return met;
}
