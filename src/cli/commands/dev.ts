import { join, relative } from 'node:path';
import { findFiles } from '../config/find-files.js';
import { findConfig } from '../config/read-config.js';
import type { ProcessFlags } from '../config/settings.js';
import { USAGE } from '../exit-code.js';
import { processOptions, serverOptions, workerOptions } from '../process-options.js';
import { command, examples, flagOf, type Register, type Shell } from '../shell.js';
import { Supervised, type Ended } from '../supervised.js';
import { untilStopped } from '../until-stopped.js';
import { watchFiles } from '../watch-files.js';

/** A person waits for the change to show: what does not end by then is handed back, and goes on in the next process. */
const DRAIN = '2s';

export const registerDev: Register = (program, shell) => {
  const dev = command(
    program,
    'dev [task-files...]',
    'Server and worker in one, on one SQLite file; begins anew when the code of a task or the config changes.',
  ).action((files: string[], options: ProcessFlags) => shell.ends(run(shell, files, options)));
  processOptions(workerOptions(serverOptions(dev)));
  examples(dev, 'pawl dev', 'pawl dev tasks.ts', "pawl dev 'tasks/**/*.ts' --port 8080");
};

/**
 * Watches, and runs everything in a process of its own: only a new process has none of the old code in it. One that is
 * replaced drains first, so that jobs end there or are handed back.
 */
async function run(shell: Shell, files: readonly string[], options: ProcessFlags): Promise<number> {
  const { console, cwd } = shell;
  const watched = watchedFiles(shell, files, options);
  const signals = untilStopped();
  let giveUp: (code: number) => void = () => undefined;
  const hopeless = new Promise<number>((resolve) => {
    giveUp = resolve;
  });
  const ended = ({ code, cameUp }: Ended): void => {
    // What is wrong with code or config can be mended while this waits; an address or a store that cannot be had, not.
    if (!cameUp && code !== null && code !== USAGE) giveUp(code);
    else console.err('It has ended; waiting for a change.\n');
  };
  const drain = { env: { ...shell.env, PAWL_DRAIN: shell.env['PAWL_DRAIN'] || DRAIN } };
  const child = new Supervised({ ...shell, ...drain }, ['server', ...files, ...argumentsOf(options)], ended);
  const watcher = watchFiles(watched, (file) => {
    console.err(`${relative(cwd, file)} has changed: beginning anew.\n`);
    void child.restart();
  });
  try {
    child.start();
    console.err(`Watching the folders of ${watched.map((file) => relative(cwd, file)).join(', ')}\n`);
    return await Promise.race([hopeless, signals.stopped.then(() => 0)]);
  } finally {
    watcher.close();
    await child.stop();
    signals.release();
  }
}

/** The config and the named files; their folders are watched. */
function watchedFiles({ cwd, env }: Shell, files: readonly string[], { config }: ProcessFlags): string[] {
  const found = findConfig(config ?? (env['PAWL_CONFIG'] || undefined), cwd);
  const named = files.flatMap((file) => findFiles(file, cwd));
  const all = [...(found === null ? [] : [found]), ...named];
  return all.length > 0 ? all : [join(cwd, 'pawl.config.ts')];
}

type DevFlags = ProcessFlags & { readonly narrate?: boolean; readonly untilInputEnds?: boolean };

/** The command line's own words again, for the process that does the work. */
function argumentsOf(options: DevFlags): string[] {
  const { narrate: _narrate, untilInputEnds: _until, json = false, queues = [], ...rest } = options;
  const flags = Object.entries(rest).flatMap(([name, value]) => [flagOf(name), String(value)]);
  return [
    ...flags,
    ...(queues.length === 0 ? [] : ['--queues', ...queues]),
    '--work',
    '--narrate',
    ...(json ? ['--json'] : []),
  ];
}
