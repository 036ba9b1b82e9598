import type { Clock } from '../index.js';

/**
 * How long nothing may come from a command that has ended, before nobody listens any more to those who still hold its output.
 * Shorter would cut off what writes the last lines for it, such as a `tee`; longer only makes its step wait for a daemon.
 */
const SILENCE_MS = 500;
/** How long those who never fall silent are listened to. */
const MOST_LISTENING_MS = 3_000;

/** Acts once nothing has come from the streams for a while, or too much for too long. The answer cancels it. */
export function onceSilent(
  clock: Clock,
  streams: readonly NodeJS.ReadableStream[],
  action: () => void,
): () => void {
  const until = clock.elapsed() + MOST_LISTENING_MS;
  let pieces = 0;
  let isCancelled = false;
  let cancel: () => void = () => undefined;
  for (const stream of streams) stream.on('data', () => (pieces += 1));
  const look = (): void => {
    const before = pieces;
    const judge = (): void => {
      if (isCancelled) return;
      if (pieces > before && clock.elapsed() < until) look();
      else action();
    };
    // A process that stood still meanwhile has yet to read what came: that is done before the next `setImmediate`.
    cancel = clock.after(SILENCE_MS, () => setImmediate(judge));
  };
  look();
  return () => {
    isCancelled = true;
    cancel();
  };
}
