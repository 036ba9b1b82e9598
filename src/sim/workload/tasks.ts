import { effect } from '../../client/effect.js';
import { task, type Task, type TaskOptions } from '../../client/task.js';
import type { HandlerContext } from '../../worker/task-definition.js';
import { handle, type Tools } from './handle.js';
import { MOST_UNDER_WAY_MS, type Outside } from './outside.js';
import type { WorkInput } from './program.js';

export const TASK_NAMES = [
  'plain',
  'timed',
  'mortal',
  'fragile',
  'keyed',
  'rated',
  'urgent',
  'strict',
] as const;
export type TaskName = (typeof TASK_NAMES)[number];
export type SimTask = Task<WorkInput, unknown>;

export const KEY_LIMIT = 2;
export const RATE = { limit: 3, perMs: 4_000 } as const;
export const SLOW_QUEUE = 'slow';

const RETRY = { maxRetries: 2, baseMs: 300, maxBackoffMs: 2_000, jitterMs: 50 } as const;

/** The same handler under every kind of rule that a task may set. */
const OPTIONS: Readonly<Record<TaskName, Omit<TaskOptions<WorkInput, WorkInput>, 'name'>>> = {
  plain: { retry: RETRY },
  /** Attempts, and steps, that take too long. */
  timed: { retry: RETRY, timeout: 4_000, stepTimeout: 1_500, maxRecoveries: 1 },
  /** Jobs that must end in time. */
  mortal: { retry: RETRY, deadline: 15_000 },
  /** Jobs that are not resumed, or not often. */
  fragile: { retry: { ...RETRY, maxRetries: 0 }, recovery: 'abort' },
  keyed: { retry: RETRY, concurrency: { key: ({ key }) => key, limit: KEY_LIMIT }, maxRecoveries: 1 },
  rated: { retry: RETRY, rateLimit: { limit: RATE.limit, per: RATE.perMs }, maxRecoveries: 1 },
  urgent: { retry: RETRY, priority: 10, queue: SLOW_QUEUE, maxRecoveries: 1 },
  /** Takes only the signals that it names. */
  strict: { retry: RETRY, signals: ['k0', 'k1', 'k2', 'k3'], version: '2' },
};

/** The tasks as one process knows them. */
export function simTasks(
  tools: Omit<Tools, 'children' | 'effects'>,
  outside: Outside,
): Readonly<Record<TaskName, SimTask>> {
  const { host } = tools;
  const settle = MOST_UNDER_WAY_MS + 600;
  const run = ({ mayHang }: { mayHang: boolean }) => ({
    run: (_input: { name: string }, { idempotencyKey }: { idempotencyKey: string }) =>
      outside.enter(host, idempotencyKey, { mayHang }),
  });
  const reconcile = (_input: { name: string }, { idempotencyKey }: { idempotencyKey: string }) =>
    outside.answer(host, idempotencyKey);
  const effects: Tools['effects'] = {
    parked: effect({ name: 'parked', ...run({ mayHang: false }) }),
    failed: effect({ name: 'failed', ...run({ mayHang: false }), onUnknown: 'fail' }),
    reconciled: effect({ name: 'reconciled', ...run({ mayHang: false }), reconcile, settle }),
    timed: effect({ name: 'timed', ...run({ mayHang: true }), reconcile, settle, timeout: 1_000 }),
  };
  const all: Record<TaskName, SimTask> = Object.fromEntries(
    TASK_NAMES.map((name) => [
      name,
      task<WorkInput>({ name, ...OPTIONS[name] }, (context: HandlerContext<WorkInput>) =>
        handle({ ...tools, effects, children: () => all }, context),
      ),
    ]),
  ) as Record<TaskName, SimTask>;
  return all;
}
