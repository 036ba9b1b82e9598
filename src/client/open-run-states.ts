import { PawlError } from '../errors.js';
import type { StoreClock } from '../ports/clock.js';
import type { Logger } from '../ports/logger.js';
import { fileRunStates } from '../stores/file/file-run-states.js';
import { memoryRunStates } from '../stores/memory/run-states.js';
import type { OpenRunStates } from '../stores/run-states/open-run-states.js';
import { parseStoreUrl } from './open-store.js';

const FILE = /^file:(?:\/\/)?(?<folder>.+)$/;

export function isInMemory(url: string): boolean {
  return url === 'memory:';
}

/** Opens the store of run states that a URL names: `memory:`, `file:` and a folder, `sqlite:` and a path, or `postgres://`. */
export async function openRunStates(
  url: string,
  { clock, log }: { clock: StoreClock; log: Pick<Logger, 'error'> },
): Promise<OpenRunStates> {
  const nothingOpen = { close: async () => undefined };
  const { folder } = FILE.exec(url)?.groups ?? {};
  if (folder !== undefined) return { ...(await fileRunStates({ folder, clock, log })), ...nothingOpen };
  const { kind, path } = parseStoreUrl(url);
  if (kind === 'memory') return { ...memoryRunStates(), ...nothingOpen };
  if (kind === 'sqlite')
    return (await import('../stores/sqlite/run-states.js')).sqliteRunStates({ path, clock });
  if (kind === 'postgres')
    return (await import('../stores/postgres/run-states.js')).postgresRunStates({ url, clock });
  throw new PawlError('REMOTE_UNSUPPORTED', { detail: 'a server keeps the states of its own runs only' });
}
