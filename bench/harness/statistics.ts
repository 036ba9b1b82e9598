/** Rounds as figures: the middle, how far they lie apart, and rates. */

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** The value below which a share of all lies: 0.99 for p99. */
export function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share + 0.5)] ?? Number.NaN;
}

export type Spread = { readonly median: number; readonly least: number; readonly most: number };

export function spreadOf(values: readonly number[]): Spread {
  return { median: median(values), least: Math.min(...values), most: Math.max(...values) };
}

/** Ours beside theirs, round by round, so that a slow minute of the machine falls on both. */
export function ratiosOf(ours: readonly number[], theirs: readonly number[]): number[] {
  return ours.flatMap((value, round) => {
    const other = theirs[round];
    return other === undefined ? [] : [value / other];
  });
}

export async function secondsOf(run: () => Promise<unknown> | void): Promise<number> {
  const startedAt = process.hrtime.bigint();
  await run();
  return Number(process.hrtime.bigint() - startedAt) / 1e9;
}

/** Per second. */
export const rateOf = async (count: number, run: () => Promise<unknown> | void): Promise<number> =>
  count / (await secondsOf(run));
