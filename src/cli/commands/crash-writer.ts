import { PawlError } from '../../errors.js';
import { crashWriter, STORE_VARIABLE } from '../crash-test.js';
import type { Register } from '../shell.js';

/** Hidden: what `conformance` starts, and kills. It writes to the store that it is started with, and to no other. */
export const registerCrashWriter: Register = (program, { console, env }) => {
  program.command('crash-writer <prefix>', { hidden: true }).action((prefix: string) => {
    const { [STORE_VARIABLE]: store = '' } = env;
    if (store === '') throw new PawlError('INVALID_OPTION', { detail: `${STORE_VARIABLE} is missing` });
    return crashWriter(console, { store, prefix });
  });
};
