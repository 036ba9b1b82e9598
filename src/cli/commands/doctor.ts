import { openStore } from '../../client/open-store.js';
import { systemClock } from '../../client/system-clock.js';
import type { Duration } from '../../engine/duration.js';
import { holdRestored } from '../../engine/hold-restored.js';
import { PawlError } from '../../errors.js';
import { configOf, present, storeOf } from '../config/settings.js';
import { print } from '../console.js';
import { examineStore } from '../doctor/examine-store.js';
import { command, examples, type Flags, type Register, type Shell } from '../shell.js';

type Options = Flags & {
  readonly restored?: boolean;
  readonly all?: boolean;
  readonly task?: readonly string[];
  readonly by: string;
};

export const registerDoctor: Register = (program, shell) => {
  const doctor = command(
    program,
    'doctor',
    'Check store, versions, clock, permissions, backlog and bloat, and name what voids a guarantee.',
  )
    .option('--restored', 'the store was restored to an earlier point: hold what may have had effects since')
    .option('--all', 'with --restored: hold every unfinished job')
    .option('--task <name...>', 'with --restored: hold the unfinished jobs of these tasks')
    .option('--by <name>', 'with --restored: who is doing this', 'operator:cli')
    .action((options: Options) => shell.ends(run(shell, options)));
  examples(doctor, 'pawl doctor', 'pawl doctor --json', 'pawl doctor --restored --task order invoice');
};

async function run(shell: Shell, options: Options): Promise<number> {
  const url = await storeOf(options, shell);
  if (options.restored) return restored(shell, url, options);
  if (options.all || options.task) {
    throw new PawlError('INVALID_OPTION', { detail: '--all and --task have a meaning with --restored only' });
  }
  const { config } = await configOf(options, shell);
  const lease = (present(shell.env['PAWL_LEASE']) as Duration | undefined) ?? config.worker?.lease;
  return examineStore(shell, url, { json: options.json ?? false, lease });
}

/** After a restore to an earlier point: holds what may already have had effects that the log does not know. */
async function restored(
  { console }: Shell,
  url: string,
  { all = false, task, by, json = false }: Options,
): Promise<number> {
  const showsProgress = console.isTerminal && !json;
  const store = await openStore(url, { clock: systemClock, migrations: 'verify' });
  try {
    const report = await holdRestored(store, {
      all,
      tasks: task ?? null,
      by,
      onProgress: (jobs) => showsProgress && console.err(`\r${jobs} jobs looked at`),
    });
    if (showsProgress) console.err('\r\u001b[K');
    const byTask = Object.entries(report.heldByTask).map(([name, count]) => `  ${count} of ${name}`);
    const text = [
      `${report.looked} jobs looked at, ${report.held} now held:`,
      ...(byTask.length > 0 ? byTask : ['  none: no unfinished job has a task that uses effects']),
      'Check what they did after the point of the restore, then `pawl release` them, or cancel them.',
    ].join('\n');
    const { looked, held, heldByTask: held_by_task } = report;
    print(console, { json, data: { looked, held, held_by_task }, text });
    return 0;
  } finally {
    await store.close();
  }
}
