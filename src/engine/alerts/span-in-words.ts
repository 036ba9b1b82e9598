const UNITS = [
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** `5 min`: in the largest unit that leaves no rest. */
export function spanInWords(ms: number): string {
  const [unit, length] = UNITS.find(([, one]) => ms >= one && ms % one === 0) ?? ['ms', 1];
  return `${ms / length} ${unit}`;
}
