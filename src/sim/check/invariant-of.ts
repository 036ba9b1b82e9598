/** The numbers of docs/simulator.md, by the kernel's own names for what must hold. */
const NUMBERS: readonly (readonly [name: string, invariant: number])[] = [
  ['next_retry_at is set exactly while retrying', 18],
  ['retries stay within the policy', 13],
  ['only a running job is leased', 6],
  ['a waiting job has open waits', 21],
  ['a finished job has no open waits', 4],
  ['failed only with a dead-letter item', 17],
  ['finished_at is set exactly at the end', 4],
  ['a result exists exactly after success', 4],
  ['interrupted_reason is set while interrupted', 3],
  ['one terminal event, and nothing after it', 4],
  ['every claim has an attempt id of its own', 5],
  ['one wait_completed for each correlation key', 20],
  ['one recorded result for each step', 7],
  ['an effect is entered again only after its entry was closed', 8],
  ['every delay is the policy’s', 13],
  ['no timer fires early', 9],
  ['a waiting job is never claimed', 21],
];

export function invariantOf(breach: string): number {
  return NUMBERS.find(([name]) => breach.startsWith(name))?.[1] ?? 3;
}
