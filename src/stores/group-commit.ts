/**
 * Collects what is asked for within one turn of the event loop and runs it together. An idle process waits for
 * nothing but the end of the turn; under load the group grows by itself.
 */
export function groupCommit<Ask, Answer>(
  run: (asks: readonly Ask[]) => Promise<readonly Answer[]>,
  { most }: { most: number },
): (ask: Ask) => Promise<Answer> {
  type Waiting = {
    readonly ask: Ask;
    readonly resolve: (answer: Answer) => void;
    readonly reject: (error: unknown) => void;
  };
  const queue: Waiting[] = [];
  let running = false;

  async function drain(): Promise<void> {
    while (queue.length > 0) {
      const group = queue.splice(0, most);
      try {
        const answers = await run(group.map(({ ask }) => ask));
        group.forEach(({ resolve }, i) => resolve(answers[i] as Answer));
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    running = false;
  }

  return (ask) =>
    new Promise((resolve, reject) => {
      queue.push({ ask, resolve, reject });
      if (running) return;
      running = true;
      setImmediate(() => void drain());
    });
}
