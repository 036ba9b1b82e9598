import { fileURLToPath } from 'node:url';
import { parseStoreUrl } from '../client/open-store.js';
import { systemClock } from '../client/system-clock.js';
import { PawlError } from '../errors.js';
import { Session } from '../stores/postgres/session.js';
import { openDatabase } from '../stores/sqlite/driver.js';
import type { FaultId } from './cells.js';
import type { ServerControl } from './ground.js';
import type { Matrix } from './outcome.js';
import { runMatrix } from './run-matrix.js';
import { scratchDatabases, scratchFiles } from './scratch.js';
import { simulatedMatrix } from './simulated.js';
import type { Program } from './worker-process.js';

const CHILD: Program = [process.execPath, fileURLToPath(new URL('child.js', import.meta.url))];

export type MatrixRequest = {
  readonly url: string;
  readonly control: ServerControl | null;
  readonly trials: number;
  readonly only: readonly FaultId[] | null;
  readonly patienceMs: number;
  readonly onTrial: (done: number) => void;
};

/** The matrix of one store: with real processes on scratch data, or in the simulator for a store in memory. */
export async function matrixOf(request: MatrixRequest): Promise<Matrix> {
  const { url, control, trials, only, patienceMs, onTrial } = request;
  const { kind, path } = parseStoreUrl(url);
  const startedAt = systemClock.elapsed();
  const tookMs = (): number => Math.round(systemClock.elapsed() - startedAt);
  if (kind === 'memory') {
    const rows = await simulatedMatrix({ trials, only, program: CHILD, onTrial });
    return { store: 'memory (simulated)', version: '', rows, tookMs: tookMs() };
  }
  if (kind === 'http') {
    throw new PawlError('INVALID_OPTION', {
      detail: 'store is a server: name the store behind it',
      details: { option: 'store' },
    });
  }
  const version = kind === 'sqlite' ? await sqliteVersion() : await postgresVersion(url);
  const scratch = kind === 'sqlite' ? scratchFiles(path, 'matrix') : scratchDatabases(url, 'matrix');
  try {
    const rows = await runMatrix({
      place: { kind, control, url },
      scratch,
      trials,
      only,
      program: CHILD,
      patienceMs,
      onTrial,
    });
    return { store: kind === 'sqlite' ? 'SQLite' : 'Postgres', version, rows, tookMs: tookMs() };
  } finally {
    await scratch.remove();
  }
}

async function sqliteVersion(): Promise<string> {
  const database = await openDatabase(':memory:');
  const { version } = database.prepare('SELECT sqlite_version() AS version').get() ?? {};
  database.close();
  return String(version);
}

async function postgresVersion(url: string): Promise<string> {
  const session = new Session({ url });
  try {
    const [row] = await session.single.rows<{ version: string }>(
      "SELECT current_setting('server_version') AS version",
    );
    return row?.version ?? '';
  } finally {
    await session.close();
  }
}
