const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

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
    void stop().finally(() => process.kill(process.pid, signal));
  };
  for (const signal of SIGNALS) process.on(signal, hear);
  return leave;
}
