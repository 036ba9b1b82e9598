import type { Engine } from '../engine/engine.js';
import { DEFAULT_TENANT } from '../engine/new-job.js';
import {
  deleteSchedule,
  getSchedule,
  listSchedules,
  pauseSchedule,
  putSchedule,
  resumeSchedule,
  triggerSchedule,
  type ScheduleOptions,
} from '../engine/schedules/manage.js';
import type { Schedule } from '../engine/schedules/schedule.js';
import { JobHandle } from './job-handle.js';
import type { AnyTask, Task } from './task.js';

/** A schedule that an application declares: made so at every start, by every process, without effect the second time. */
export type ScheduleDeclaration<I = unknown> = Omit<ScheduleOptions, 'scheduleId' | 'tenantId'> & {
  readonly id: string;
  readonly tenantId?: string;
  readonly input: I;
};

export type DeclaredSchedule = { readonly task: AnyTask; readonly declaration: ScheduleDeclaration };

/** Declares that a task is run again and again: pass it to `pawl({ schedules })`. */
export function schedule<I, R>(
  task: Task<I, R>,
  declaration: ScheduleDeclaration<NoInfer<I>>,
): DeclaredSchedule {
  return { task, declaration };
}

/** Schedules, as an application or an operator sees them. */
export class Schedules {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Creates a schedule, or makes the one that is there what is asked for. */
  async put({ task, declaration }: DeclaredSchedule): Promise<Schedule> {
    const { id: scheduleId, tenantId = DEFAULT_TENANT, input, ...options } = declaration;
    const { definition } = task;
    const read = await definition.readInput(input, `the input of schedule '${scheduleId}'`);
    const {
      readInput: _read,
      readStored: _stored,
      run: _run,
      rate: _rate,
      concurrency,
      ...settings
    } = definition;
    const concurrencyKey = concurrency?.key(read.value) ?? null;
    return putSchedule(
      this.#engine,
      { ...options, scheduleId, tenantId },
      { task: settings, input: read.text, concurrencyKey },
    );
  }

  list({ tenantId = null }: { tenantId?: string | null } = {}): Promise<Schedule[]> {
    return listSchedules(this.#engine, tenantId);
  }

  get(id: string, { tenantId = DEFAULT_TENANT }: InTenant = {}): Promise<Schedule> {
    return getSchedule(this.#engine, { tenantId, scheduleId: id });
  }

  /** No more firings until it is resumed. What was missed meanwhile is left out. */
  pause(id: string, { tenantId = DEFAULT_TENANT }: InTenant = {}): Promise<void> {
    return pauseSchedule(this.#engine, { tenantId, scheduleId: id });
  }

  resume(id: string, { tenantId = DEFAULT_TENANT }: InTenant = {}): Promise<void> {
    return resumeSchedule(this.#engine, { tenantId, scheduleId: id });
  }

  /** A firing out of turn, now. */
  async trigger(id: string, { tenantId = DEFAULT_TENANT }: InTenant = {}): Promise<JobHandle> {
    const jobId = await triggerSchedule(this.#engine, { tenantId, scheduleId: id });
    return new JobHandle(this.#engine, { jobId, tenantId });
  }

  /** Jobs that it has started go on. */
  delete(id: string, { tenantId = DEFAULT_TENANT }: InTenant = {}): Promise<void> {
    return deleteSchedule(this.#engine, { tenantId, scheduleId: id });
  }
}

type InTenant = { readonly tenantId?: string };
