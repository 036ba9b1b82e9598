import type { Overview, Queues } from '../api/operations.js';

export type QueueRow = {
  readonly queue: string;
  readonly oldestDueAt: string | null;
  readonly pausedBy: string | null;
  readonly pausedSince: string | null;
  /** By a live worker. */
  readonly isWorked: boolean;
  readonly word: 'paused' | 'active' | 'not ready';
  readonly label: string;
};

/** Queues have no list of their own: they are known by who works on them, who paused them, and what waits in them. */
export function queueRows({ queues, paused }: Queues, overview: Overview | null): QueueRow[] {
  const waiting = new Map(overview?.queues.map(({ queue, oldest_due_at: at }) => [queue, at]));
  const stopped = new Map(paused.map((one) => [one.queue, one]));
  const names = new Set([...queues, ...stopped.keys(), ...waiting.keys()]);
  return [...names].toSorted().map((queue) => {
    const pause = stopped.get(queue);
    const isWorked = queues.includes(queue);
    return {
      queue,
      oldestDueAt: waiting.get(queue) ?? null,
      pausedBy: pause?.paused_by ?? null,
      pausedSince: pause?.since ?? null,
      isWorked,
      word: pause ? 'paused' : isWorked ? 'active' : 'not ready',
      label: pause ? 'paused' : isWorked ? 'worked on' : 'no worker',
    };
  });
}
