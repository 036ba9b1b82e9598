import { jsonLogger } from '../client/console-logger.js';
import { openStore } from '../client/open-store.js';
import { Pawl, pawl, type Inside } from '../client/pawl.js';
import { systemClock } from '../client/system-clock.js';
import { defined } from '../engine/defined.js';
import { configOf, storeOf } from './config/settings.js';
import type { Flags, Shell } from './shell.js';
import { warnOfMemory } from './warn-of-memory.js';

export type OpenApp = Inside & { readonly app: Pawl };

type Opening = {
  /** Makes the store if there is none: only for what puts something into it. Others would find nothing in a new one. */
  readonly creates?: boolean;
  /** Gives commands to jobs. One that is refused may raise an alert, by the rules that the config has for every process. */
  readonly commands?: boolean;
};

/** Opens the store that is meant, for as long as a command works on it. */
export async function withApp<T>(
  shell: Shell,
  flags: Flags,
  work: (open: OpenApp) => Promise<T>,
  { creates = false, commands = false }: Opening = {},
): Promise<T> {
  const url = await storeOf(flags, shell);
  warnOfMemory(shell.console, url);
  const { alerts } = commands ? (await configOf(flags, shell)).config : {};
  const store = await openStore(url, { clock: systemClock, migrations: creates ? 'migrate' : 'verify' });
  // An alert is for whoever looks after the store; whoever gave the command is told by its answer.
  const log = jsonLogger({ level: 'error', write: shell.console.err });
  const app = await pawl({ store, log, ...defined({ alerts }) });
  try {
    return await work({ app, ...Pawl.inside(app) });
  } finally {
    await app.close();
  }
}
