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
    this.all = known.map(({ lane, task }) => ({
      lane,
      keyLimit: task.concurrency?.limit ?? null,
      tenantLimit: task.concurrency?.perTenant ?? null,
      rate: task.rate && { name: task.name, limit: task.rate.limit, perMs: task.rate.perMs },
      ratePerTenant: task.rate?.perTenant ?? false,
    }));
  }

  get names(): string[] {
    return this.all.map(({ lane }) => lane);
  }

  taskOf(lane: string): TaskDefinition | undefined {
    return this.#tasks.get(lane);
  }
}
