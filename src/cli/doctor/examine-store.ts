import { expectStore, IN_NO_FILE, openStore, parseOwnStoreUrl } from '../../client/open-store.js';
import { planMigration } from '../../client/plan-migration.js';
import { systemClock } from '../../client/system-clock.js';
import { withoutPassword } from '../../client/without-password.js';
import { PawlError } from '../../errors.js';
import type { Duration } from '../../engine/duration.js';
import type { Store } from '../../ports/store.js';
import { examinePostgres } from '../../stores/postgres/examine.js';
import { examineSqlite } from '../../stores/sqlite/examine.js';
import { print } from '../console.js';
import { CHECK_FAILED } from '../exit-code.js';
import type { Shell } from '../shell.js';
import { table } from '../table.js';
import { fail, ok, warn, type Check } from './check.js';
import { checkClock, checkLease, checkNode, checkTimeGoesOn, checkWrite } from './check-machine.js';
import { checkPostgres } from './check-postgres.js';
import { checkSqlite } from './check-sqlite.js';
import { checkWork } from './check-work.js';

/** Checks whether a store and what surrounds it keep what is promised. Nothing is left changed. */
export async function examineStore(
  { console }: Shell,
  url: string,
  { json, lease }: { json: boolean; lease: Duration | undefined },
): Promise<number> {
  const checks = [checkNode(process.version), ...checkLease(lease), ...(await storeChecks(url))];
  const of = (status: Check['status']): number => checks.filter((check) => check.status === status).length;
  const [failed, warned] = [of('fail'), of('warn')];
  const rows = checks.map(({ name, status, message, voids }) => [
    status,
    name,
    voids.length === 0 ? message : `${message}. Voids ${voids.join(', ')}`,
  ]);
  const count = (number: number, word: string): string => `${number} ${word}${number === 1 ? '' : 's'}`;
  const verdict =
    failed === 0
      ? `Nothing is broken; ${warned === 0 ? 'no warnings' : count(warned, 'warning')}.`
      : `${count(failed, 'check')} failed, ${count(warned, 'warning')}.`;
  print(console, {
    json,
    data: { store: withoutPassword(url), passed: failed === 0, checks },
    text: `${table(['', 'CHECK', 'FOUND'], rows)}\n\n${verdict}`,
  });
  return failed === 0 ? 0 : CHECK_FAILED;
}

async function storeChecks(url: string): Promise<Check[]> {
  const { kind, path } = parseOwnStoreUrl(url);
  if (kind === 'memory' || path === IN_NO_FILE) {
    return [
      warn('store', 'it lives in the memory of one process: nothing survives its end', ['G5', 'G1', 'G4']),
    ];
  }
  const checks: Check[] = [];
  let store: Store | null = null;
  try {
    expectStore(url);
    if ((await planMigration(url)) !== '')
      return [fail('schema', 'it is not up to date: run `pawl migrate`')];
    store = await openStore(url, { clock: systemClock, migrations: 'verify' });
    checks.push(ok('store', `${withoutPassword(url)} answers`), ok('schema', 'it is that of this release'));
    checks.push(await checkClock(store, systemClock), await checkWrite(store));
    const { now } = await store.pausedQueues();
    if (kind === 'sqlite') {
      const facts = await examineSqlite(path, now);
      const behind = checkTimeGoesOn({ now, newestAt: facts.newestAt });
      const others = checks.filter(({ name }) => behind.length === 0 || name !== 'clock');
      return [...others, ...behind, ...checkSqlite(facts), ...(await checkWork(store, facts))];
    }
    const facts = await examinePostgres(url, now);
    return [...checks, ...checkPostgres(facts), ...(await checkWork(store, facts))];
  } catch (error) {
    if (!(error instanceof PawlError)) throw error;
    return [...checks, fail(NAMES[error.code] ?? 'store', `${error.code}: ${error.message}`)];
  } finally {
    await store?.close();
  }
}

/** What a check is about, by what the store said. */
const NAMES: Readonly<Record<string, string>> = {
  STORE_READ_ONLY: 'permissions',
  STORE_ACCESS_DENIED: 'permissions',
  STORE_FULL: 'space',
  STORE_OUTDATED: 'schema',
  STORE_TOO_NEW: 'schema',
};
