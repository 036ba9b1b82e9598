import { laneOf } from '../kernel/index.js';
import type { ClaimLane } from '../ports/store.js';
import type { TaskDefinition } from './task-definition.js';

/** What a worker can run, by lane: each of its tasks on the queues that it works on, or on the task's own. */
export class Lanes {
  readonly all: readonly ClaimLane[];
  readonly #tasks: ReadonlyMap<string, TaskDefinition>;

  constructor(tasks: readonly TaskDefinition[], queues: readonly string[] | null) {
    const known = tasks.flatMap((task) =>
      (queues ?? [task.queue]).map((queue) => ({
        task,
        lane: laneOf({ queue, task: task.name, version: task.version }),
      })),
    );
    this.#tasks = new Map(known.map(({ lane, task }) => [lane, task]));
    this.all = known.map(({ lane, task }) => limitedLane(lane, task));
  }

  get names(): string[] {
    return this.all.map(({ lane }) => lane);
  }

  taskOf(lane: string): TaskDefinition | undefined {
    return this.#tasks.get(lane);
  }
}

/** A lane with the limits of its task. */
export function limitedLane(lane: string, { name, concurrency, rate }: TaskDefinition): ClaimLane {
  return {
    lane,
    keyLimit: concurrency?.limit ?? null,
    tenantLimit: concurrency?.perTenant ?? null,
    rate: rate && { name, limit: rate.limit, perMs: rate.perMs },
    ratePerTenant: rate?.perTenant ?? false,
  };
}
