import type { PawlError } from '../errors.js';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
/** What a shell reports of a process that a signal ended. */
const SIGNAL_EXIT = { SIGTERM: 143, SIGINT: 130 } as const;

export type Stopped = { readonly by: 'signal' } | { readonly by: 'error'; readonly error: PawlError };

/**
 * Waits for a signal, or for `fail` to be called. From then on a second signal ends the process at once: whoever sends
 * it does not want to wait. `untilInputEnds`: whoever holds the other end of standard input started this process, and
 * it does not outlive them.
 */
export function untilStopped({ untilInputEnds = false }: { untilInputEnds?: boolean } = {}): {
  readonly stopped: Promise<Stopped>;
  readonly fail: (error: PawlError) => void;
  release(): void;
} {
  let settle: (how: Stopped) => void = () => undefined;
  const stopped = new Promise<Stopped>((resolve) => {
    settle = resolve;
  });
  let heard = false;
  const hear = (signal: (typeof SIGNALS)[number]): void => {
    if (heard) process.exit(SIGNAL_EXIT[signal]);
    heard = true;
    settle({ by: 'signal' });
  };
  for (const signal of SIGNALS) process.on(signal, hear);
  const end = (): void => settle({ by: 'signal' });
  if (untilInputEnds) process.stdin.once('close', end).resume();
  return {
    stopped,
    fail: (error) => settle({ by: 'error', error }),
    release() {
      for (const signal of SIGNALS) process.off(signal, hear);
      if (untilInputEnds) process.stdin.off('close', end).destroy();
    },
  };
}
