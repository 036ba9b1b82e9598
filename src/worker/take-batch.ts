import type { Extras } from '../engine/prepare-commit.js';

/** What goes into one commit: more would be a row, or a request, that takes long and may be refused for its size. */
const MOST_COMMANDS = 1_000;
const MOST_CHARACTERS = 1_048_576;

type Ask = {
  readonly command: object;
  readonly options: { readonly alone?: boolean; readonly extras?: Extras };
};

/** Takes off the queue what makes one commit of bearable size: the first, and what may go with it. */
export function takeBatch<A extends Ask>(queue: A[]): A[] {
  if (queue.length === 1 || queue[0]?.options.alone) return queue.splice(0, 1);
  let count = 0;
  let size = 0;
  for (const { command, options } of queue) {
    size += charactersIn(command) + charactersIn(options.extras);
    const fits = count === 0 || (size <= MOST_CHARACTERS && !options.alone);
    if (!fits || count === MOST_COMMANDS) break;
    count += 1;
  }
  return queue.splice(0, count);
}

/** Roughly, and of everything: inputs, results, states, failures and messages alike may be a megabyte long. */
function charactersIn(value: object | undefined): number {
  let size = 0;
  for (const key in value) {
    const part: unknown = value[key as keyof typeof value];
    if (typeof part === 'string') size += part.length;
    else if (typeof part === 'object' && part !== null) size += charactersIn(part);
  }
  return size;
}
