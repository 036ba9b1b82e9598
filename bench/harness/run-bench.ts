import { Databases } from './databases.js';
import { HELP, readOptions, type Options } from './options.js';

export type Ground = {
  readonly databases: Databases;
  /** Something else to let go of in the end, whatever the end is. */
  readonly afterwards: (stop: () => Promise<void>) => void;
};

/** Reads the command line, runs, and lets go of every server and file, even when it is interrupted. */
export async function runBench(bench: (options: Options, ground: Ground) => Promise<boolean>): Promise<void> {
  const databases = new Databases();
  const stops = [() => databases.close()];
  const stopAll = async (): Promise<void> => {
    for (const stop of stops.splice(0)) await stop();
  };
  const interrupt = (): void => void stopAll().finally(() => process.exit(130));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupt);
  try {
    const options = readOptions(process.argv.slice(2));
    if (options === 'help') console.log(HELP);
    else
      process.exitCode = (await bench(options, { databases, afterwards: (stop) => stops.push(stop) }))
        ? 0
        : 1;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 2;
  } finally {
    await stopAll();
    // A process that could not be begun leaves its channel open.
    process.exit();
  }
}
