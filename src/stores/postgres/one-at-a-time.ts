import { must } from '../../kernel/index.js';
import type { Answers } from '../group-commit.js';

/**
 * Runs together what was asked for at the same time. Of several asks that concern the same thing, which one statement cannot
 * change twice, the first goes with the others, and each of the rest by itself once the one before is answered.
 */
export async function oneAtATime<Ask, Answer>(
  asks: readonly Ask[],
  nameOf: (ask: Ask) => string,
  run: (different: readonly Ask[]) => Promise<Answers<Answer>>,
): Promise<Answers<Answer>> {
  const names = new Set<string>();
  const isFirst = asks.map((ask) => names.size < names.add(nameOf(ask)).size);
  const answers = (await run(asks.filter((_, n) => isFirst[n]))).values();
  const before = new Map<string, Answer | Promise<Answer>>();
  return asks.map((ask, n) => {
    const alone = async () => must((await run([ask]))[0], 'each is answered');
    const name = nameOf(ask);
    const answer = isFirst[n]
      ? (answers.next().value as Answer | Promise<Answer>)
      : Promise.resolve(before.get(name)).then(alone, alone);
    before.set(name, answer);
    return answer;
  });
}
