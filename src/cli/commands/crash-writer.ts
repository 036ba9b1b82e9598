import { crashWriter } from '../crash-test.js';
import type { Register } from '../shell.js';

/** Hidden: what `conformance` starts, and kills. */
export const registerCrashWriter: Register = (program, { console }) => {
  program
    .command('crash-writer <prefix>', { hidden: true })
    .requiredOption('--store <url>')
    .action((prefix: string, { store }: { store: string }) => crashWriter(console, { store, prefix }));
};
