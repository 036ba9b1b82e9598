const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** How many of this process are stopping because of a signal: the last of them lets it end. */
let stopping = 0;

/**
 * Stops working before the process ends: the first signal begins it, and is sent again once it is done, so that the
 * process ends as it would have. Answers with how to stop listening.
 */
export function stopOnSignal(stop: () => Promise<void>): () => void {
  const leave = (): void => {
    for (const signal of SIGNALS) process.off(signal, hear);
  };
  const hear = (signal: NodeJS.Signals): void => {
    leave();
    stopping += 1;
    void stop().finally(() => {
      stopping -= 1;
      if (stopping === 0) process.kill(process.pid, signal);
    });
  };
  for (const signal of SIGNALS) process.on(signal, hear);
  return leave;
}
