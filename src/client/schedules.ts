import type { Engine } from '../engine/engine.js';
import { DEFAULT_TENANT } from '../engine/new-job.js';
import * as is from '../engine/option-checks.js';
import { invalidOption, Options, shown } from '../engine/options.js';
import {
  deleteSchedule,
  getSchedule,
  listSchedules,
  pauseSchedule,
  putSchedule,
  resumeSchedule,
  triggerSchedule,
  type ScheduleOptions,
  type ScheduleRef,
} from '../engine/schedules/manage.js';
import type { Schedule } from '../engine/schedules/schedule.js';
import { IN_TENANT, OF_TENANT, type InTenant, type OfTenant } from './by-and-tenant.js';
import { JobHandle } from './job-handle.js';
import { expectTask, isSchedule } from './made-things.js';
import type { AnyTask, Task } from './task.js';

/** A schedule that an application declares: made so at every start, by every process, without effect the second time. */
export type ScheduleDeclaration<I = unknown> = Omit<ScheduleOptions, 'scheduleId' | 'tenantId'> & {
  readonly id: string;
  readonly tenantId?: string;
  readonly input: I;
};

export type DeclaredSchedule = { readonly task: AnyTask; readonly declaration: ScheduleDeclaration };

const DECLARATION = new Options<ScheduleDeclaration>({
  id: is.required(is.text),
  tenantId: is.text,
  input: is.elsewhere,
  at: is.elsewhere,
  every: is.elsewhere,
  from: is.elsewhere,
  cron: is.elsewhere,
  daily: is.elsewhere,
  zone: is.elsewhere,
  overlap: is.elsewhere,
  catchUp: is.elsewhere,
  paused: is.flag,
});

/** Declares that a task is run again and again: pass it to `pawl({ schedules })`. */
export function schedule<I, R>(
  task: Task<I, R>,
  declaration: ScheduleDeclaration<NoInfer<I>>,
): DeclaredSchedule {
  expectTask(task, 'schedule()');
  DECLARATION.expect(declaration, 'schedule()');
  return { task, declaration };
}

/** Schedules, as an application or an operator sees them. */
export class Schedules {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Creates a schedule, or makes the one that is there what is asked for. */
  async put(declared: DeclaredSchedule): Promise<Schedule> {
    if (!isSchedule(declared)) {
      throw invalidOption('schedule', `put() got ${shown(declared)}, which was not made by schedule()`);
    }
    const { task, declaration } = declared;
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

  async list(options: OfTenant = {}): Promise<Schedule[]> {
    OF_TENANT.expect(options, 'schedules.list()');
    return listSchedules(this.#engine, options.tenantId ?? null);
  }

  async get(id: string, options: InTenant = {}): Promise<Schedule> {
    return getSchedule(this.#engine, refOf(id, options, 'schedules.get()'));
  }

  /** No more firings until it is resumed. What was missed meanwhile is left out; what waited for the job before it is not. */
  async pause(id: string, options: InTenant = {}): Promise<void> {
    await pauseSchedule(this.#engine, refOf(id, options, 'schedules.pause()'));
  }

  async resume(id: string, options: InTenant = {}): Promise<void> {
    await resumeSchedule(this.#engine, refOf(id, options, 'schedules.resume()'));
  }

  /** A firing out of turn, now. */
  async trigger(id: string, options: InTenant = {}): Promise<JobHandle> {
    const ref = refOf(id, options, 'schedules.trigger()');
    const jobId = await triggerSchedule(this.#engine, ref);
    return new JobHandle(this.#engine, { jobId, tenantId: ref.tenantId });
  }

  /** Jobs that it has started go on. */
  async delete(id: string, options: InTenant = {}): Promise<void> {
    await deleteSchedule(this.#engine, refOf(id, options, 'schedules.delete()'));
  }
}

function refOf(scheduleId: string, options: InTenant, whose: string): ScheduleRef {
  IN_TENANT.expect(options, whose);
  return { tenantId: options.tenantId ?? DEFAULT_TENANT, scheduleId };
}
