import type { Command } from 'commander';
import {
  deleteSchedule,
  getSchedule,
  listSchedules,
  pauseSchedule,
  putSchedule,
  resumeSchedule,
  triggerSchedule,
} from '../../engine/schedules/manage.js';
import { CATCH_UP_POLICIES, OVERLAP_POLICIES, type Schedule } from '../../engine/schedules/schedule.js';
import type { When } from '../../engine/schedules/timing.js';
import { defined } from '../../engine/defined.js';
import { scheduleView, workOf } from '../../http/recurring.js';
import { knownTasks } from '../config/known-tasks.js';
import { print } from '../console.js';
import { withApp } from '../open-app.js';
import { readInputValue } from '../read-json.js';
import {
  choiceOption,
  command,
  examples,
  ownerOption,
  tenantOption,
  type Flags,
  type Register,
  type Shell,
} from '../shell.js';
import { sheet, table } from '../table.js';

type Options = Flags & { readonly tenant: string };
type PutOptions = Options &
  When & {
    readonly overlap?: (typeof OVERLAP_POLICIES)[number];
    readonly catchUp?: (typeof CATCH_UP_POLICIES)[number];
    readonly inputFile?: string;
  };

export const registerSchedules: Register = (program, shell) => {
  const schedules = command(program, 'schedules', 'What is started again and again.');
  const list = command(schedules, 'list', 'All schedules.')
    .addOption(tenantOption())
    .action((_options: unknown, self: Command) =>
      shell.ends(listAll(shell, self.optsWithGlobals<Flags & { tenant?: string }>())),
    );
  examples(list, 'pawl schedules list');

  const put = command(
    schedules,
    'put <id> <task> [json]',
    'Create a schedule, or make the one that is there what is asked for.',
  )
    .option('--every <duration>', 'again and again, such as 15m')
    .option('--from <time>', 'with --every: counted from this time in UTC')
    .option(
      '--cron <pattern>',
      "five fields, six with seconds first, seven with years last: '30 7 * * MON-FRI'",
    )
    .option('--daily <time>', 'at a time of day, such as 02:30')
    .option('--at <time>', 'once, at a time in UTC such as 2027-01-31T08:00:00Z')
    .option('--zone <zone>', 'with --cron and --daily: an IANA time zone such as Europe/Berlin')
    .addOption(choiceOption('--overlap <policy>', 'while the job before is live', OVERLAP_POLICIES))
    .addOption(choiceOption('--catch-up <policy>', 'after a time in which nobody worked', CATCH_UP_POLICIES))
    .option('--input-file <file>', 'the input from a file; `-` as the argument reads standard input')
    .addOption(ownerOption())
    .action((id: string, task: string, json: string | undefined, _options: unknown, self: Command) =>
      shell.ends(runPut(shell, { id, task, json }, self.optsWithGlobals<PutOptions>())),
    );
  examples(
    put,
    `pawl schedules put nightly report '{"of":"sales"}' --daily 02:30 --zone Europe/Berlin`,
    'pawl schedules put beat ping --every 1m --overlap skip --catch-up none',
  );

  const one = (name: string, description: string, run: typeof show) => {
    const made = command(schedules, `${name} <id>`, description)
      .addOption(ownerOption())
      .action((id: string, _options: unknown, self: Command) =>
        shell.ends(run(shell, id, self.optsWithGlobals<Options>())),
      );
    examples(made, `pawl schedules ${name} nightly`);
  };
  one('show', 'A schedule as it stands.', show);
  one('pause', 'No more firings until it is resumed. What is missed meanwhile is left out.', pause);
  one('resume', 'Let a paused schedule go on.', resume);
  one('trigger', 'A firing out of turn, now.', trigger);
  one('delete', 'Delete a schedule. Jobs that it has started go on.', remove);
  examples(schedules, 'pawl schedules list', 'pawl schedules trigger nightly');
};

function listAll(shell: Shell, options: Flags & { tenant?: string }): Promise<number> {
  return withApp(shell, options, async ({ engine }) => {
    const found = await listSchedules(engine, options.tenant ?? null);
    const rows = found.map((one) => {
      const view = scheduleView(one);
      return [view.schedule_id, view.job_type, whenOf(view), stateOf(view), view.next_fire_at, one.tenantId];
    });
    const heads = ['SCHEDULE', 'TASK', 'WHEN', 'STATE', 'NEXT', 'TENANT'];
    const text = rows.length === 0 ? 'There are no schedules.' : table(heads, rows);
    print(shell.console, { json: options.json ?? false, data: { schedules: found.map(shown) }, text });
    return 0;
  });
}

async function runPut(
  shell: Shell,
  { id, task, json: argument }: { id: string; task: string; json: string | undefined },
  options: PutOptions,
): Promise<number> {
  const payload = await readInputValue(shell, { argument, file: options.inputFile });
  const tasks = await knownTasks(shell, options, task);
  const { every, from, cron, daily, at, zone, overlap, catchUp, tenant: tenantId } = options;
  const when = defined({ every, from, cron, daily, at, zone, overlap, catchUp });
  return withApp(
    shell,
    options,
    async ({ engine }) => {
      const work = await workOf({ tasks, defaultTask: task }, { job_type: task, payload });
      const made = await putSchedule(engine, { ...when, scheduleId: id, tenantId }, work);
      return say(shell, options, made, sheetOf(made));
    },
    { creates: true },
  );
}

function show(shell: Shell, id: string, options: Options): Promise<number> {
  return withApp(shell, options, async ({ engine }) => {
    const found = await getSchedule(engine, { tenantId: options.tenant, scheduleId: id });
    return say(shell, options, found, sheetOf(found));
  });
}

function pause(shell: Shell, id: string, options: Options): Promise<number> {
  return withApp(shell, options, async ({ engine }) => {
    const ref = { tenantId: options.tenant, scheduleId: id };
    await pauseSchedule(engine, ref);
    return say(shell, options, await getSchedule(engine, ref), `Schedule ${id} is paused.`);
  });
}

function resume(shell: Shell, id: string, options: Options): Promise<number> {
  return withApp(shell, options, async ({ engine }) => {
    const ref = { tenantId: options.tenant, scheduleId: id };
    await resumeSchedule(engine, ref);
    const schedule = await getSchedule(engine, ref);
    const next = shown(schedule).next_fire_at ?? 'never';
    return say(shell, options, schedule, `Schedule ${id} goes on. Its next firing: ${next}.`);
  });
}

function trigger(shell: Shell, id: string, options: Options): Promise<number> {
  return withApp(shell, options, async ({ engine }) => {
    const jobId = await triggerSchedule(engine, { tenantId: options.tenant, scheduleId: id });
    const data = { schedule_id: id, job_id: jobId };
    print(shell.console, { json: options.json ?? false, data, text: `Started job ${jobId}.` });
    return 0;
  });
}

function remove(shell: Shell, id: string, options: Options): Promise<number> {
  return withApp(shell, options, async ({ engine }) => {
    await deleteSchedule(engine, { tenantId: options.tenant, scheduleId: id });
    const data = { schedule_id: id, deleted: true };
    print(shell.console, { json: options.json ?? false, data, text: `Schedule ${id} is deleted.` });
    return 0;
  });
}

type View = ReturnType<typeof scheduleView>;

/** As the HTTP API shows it, and whose it is. */
function shown(schedule: Schedule): View & { tenant_id: string } {
  return { ...scheduleView(schedule), tenant_id: schedule.tenantId };
}

function say(shell: Shell, { json = false }: Flags, schedule: Schedule, text: string): number {
  print(shell.console, { json, data: shown(schedule), text });
  return 0;
}

function sheetOf(schedule: Schedule): string {
  const view = shown(schedule);
  return sheet({
    schedule: view.schedule_id,
    task: view.job_type,
    when: whenOf(view),
    zone: view.time_zone,
    overlap: view.overlap,
    'catch up': view.catch_up,
    state: stateOf(view),
    next: view.next_fire_at,
    last: view.last_fire_at,
    'last job': view.last_job_id,
    'left out': view.skipped === 0 ? null : view.skipped,
    tenant: view.tenant_id,
    input: JSON.stringify(view.payload),
  });
}

function whenOf({ schedule_type: type, at, every_ms, cron, daily_at }: View): string {
  const said = { at, every: every_ms === undefined ? '' : `${every_ms / 1_000} s`, cron, daily: daily_at };
  return `${type} ${said[type] ?? ''}`;
}

function stateOf({ paused, next_fire_at: next }: View): string {
  if (paused) return 'paused';
  return next === null ? 'over' : 'active';
}
