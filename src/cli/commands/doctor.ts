import type { Duration } from '../../engine/duration.js';
import { holdRestored } from '../../engine/hold-restored.js';
import { PawlError } from '../../errors.js';
import { configOf, storeOf } from '../config/settings.js';
import { present } from '../config/store-variables.js';
import { print } from '../console.js';
import { examineStore } from '../doctor/examine-store.js';
import { restoredText, restoredView } from '../doctor/restored-lines.js';
import { withApp } from '../open-app.js';
import { command, examples, type Flags, type Register, type Shell } from '../shell.js';

type Options = Flags & {
  readonly restored?: boolean;
  readonly all?: boolean;
  readonly task?: readonly string[];
  readonly except?: readonly string[];
  readonly by: string;
};

export const registerDoctor: Register = (program, shell) => {
  const doctor = command(
    program,
    'doctor',
    'Check store, versions, clock, permissions, backlog and bloat, and name what voids a guarantee.',
  )
    .option(
      '--restored',
      'the store was restored to an earlier point: hold unfinished jobs, and pause schedules that are due',
    )
    .option('--all', 'with --restored: of all tasks, which it does unless told otherwise')
    .option('--task <name...>', 'with --restored: only jobs and schedules of these tasks')
    .option(
      '--except <name...>',
      'with --restored: not those of these tasks, which may do again what they did',
    )
    .option('--by <name>', 'with --restored: who is doing this', 'operator:cli')
    .action((options: Options) => shell.ends(run(shell, options)));
  examples(
    doctor,
    'pawl doctor',
    'pawl doctor --json',
    'pawl doctor --restored',
    'pawl doctor --restored --except thumbnail',
  );
};

async function run(shell: Shell, options: Options): Promise<number> {
  if (options.restored) return restored(shell, options);
  if (options.all || options.task || options.except) {
    const detail = '--all, --task and --except have a meaning with --restored only';
    throw new PawlError('INVALID_OPTION', { detail });
  }
  const { config } = await configOf(options, shell);
  const lease = (present(shell.env['PAWL_LEASE']) as Duration | undefined) ?? config.worker?.lease;
  return examineStore(shell, await storeOf(options, shell), { json: options.json ?? false, lease });
}

/** After a restore to an earlier point: stops what may have happened already, for all that the log knows. */
async function restored(shell: Shell, options: Options): Promise<number> {
  const { console } = shell;
  const { task, except = [], by, json = false } = options;
  const tasks = options.all ? null : (task ?? null);
  if (except.length > 0 && (options.all || task)) {
    throw new PawlError('INVALID_OPTION', { detail: '--except has no meaning with --all or --task' });
  }
  const showsProgress = console.isTerminal && !json;
  const onProgress = (jobs: number) => showsProgress && console.err(`\r${jobs} jobs looked at`);
  const report = await withApp(shell, options, ({ engine }) =>
    holdRestored(engine, { tasks, except, by, onProgress }),
  );
  if (showsProgress) console.err('\r\u001b[K');
  print(console, { json, data: restoredView(report), text: restoredText(report) });
  return 0;
}
