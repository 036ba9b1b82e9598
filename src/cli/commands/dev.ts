import { join } from 'node:path';
import { findFiles } from '../config/find-files.js';
import { findConfig } from '../config/read-config.js';
import type { ProcessFlags } from '../config/settings.js';
import { processOptions, serverOptions, workerOptions } from '../process-options.js';
import { command, examples, type Register, type Shell } from '../shell.js';
import { Supervised } from '../supervised.js';
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
  const { console, cwd, env } = shell;
  const watched = watchedFiles(shell, files, options);
  const watchStop = untilStopped();
  const child = new Supervised(shell, ['server', ...files, '--work', '--narrate', ...argumentsOf(options)], {
    PAWL_DRAIN: env['PAWL_DRAIN'] || DRAIN,
  });
  const watcher = watchFiles(watched, (file) => {
    console.err(`${file} has changed: beginning anew.\n`);
    void child.restart();
  });
  try {
    child.start();
    console.err(
      `Watching ${[...new Set(watched.map((file) => (file.startsWith(cwd) ? `.${file.slice(cwd.length)}` : file)))].join(', ')}\n`,
    );
    await watchStop.stopped;
    return 0;
  } finally {
    watcher.close();
    await child.stop();
    watchStop.release();
  }
}

/** The config and the named files; their folders are watched. */
function watchedFiles({ cwd, env }: Shell, files: readonly string[], { config }: ProcessFlags): string[] {
  const found = findConfig(config ?? (env['PAWL_CONFIG'] || undefined), cwd);
  const named = files.flatMap((file) => findFiles(file, cwd));
  const all = [...(found === null ? [] : [found]), ...named];
  return all.length > 0 ? all : [join(cwd, 'pawl.config.ts')];
}

/** The command line's own words again, for the process that does the work. */
function argumentsOf({
  narrate: _narrate,
  json: _json,
  ...options
}: ProcessFlags & { narrate?: boolean }): string[] {
  return Object.entries(options).flatMap(([name, value]) => {
    const flag = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    return [flag, ...(Array.isArray(value) ? value.map(String) : [String(value)])];
  });
}
