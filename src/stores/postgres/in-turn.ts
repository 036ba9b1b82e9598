import type { Answers } from '../group-commit.js';

/**
 * Runs together what was asked for at the same time. Of several asks that concern the same thing, which one statement cannot
 * change twice, each has its turn once the one before is answered.
 */
export async function inTurn<Ask, Answer>(
  asks: readonly Ask[],
  nameOf: (ask: Ask) => string,
  run: (different: readonly Ask[]) => Promise<Answers<Answer>>,
): Promise<Answers<Answer>> {
  const names = new Set<string>();
  const isFirst = asks.map((ask) => names.size < names.add(nameOf(ask)).size);
  if (names.size === asks.length) return run(asks);
  const firsts = await Promise.all(await run(asks.filter((_, n) => isFirst[n])));
  const others = asks.filter((_, n) => !isFirst[n]);
  const later = await inTurn(others, nameOf, run);
  const answers = { first: firsts.values(), later: later.values() };
  return isFirst.map((first) => (first ? answers.first : answers.later).next().value as Answer);
}
