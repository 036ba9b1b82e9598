import { openStore } from '../client/open-store.js';
import { planMigration } from '../client/plan-migration.js';
import { systemClock } from '../client/system-clock.js';
import { print, type Console } from './console.js';

export type MigrateOptions = {
  readonly store: string;
  readonly dryRun: boolean;
  readonly verify: boolean;
  readonly json: boolean;
};

/** Brings a store's schema up to this release, prints what that would take, or only checks. */
export async function migrate(
  console: Console,
  { store: url, dryRun, verify, json }: MigrateOptions,
): Promise<number> {
  const sql = await planMigration(url);
  if (dryRun) {
    print(console, {
      json,
      data: { pending: sql !== '', sql },
      text: sql === '' ? '-- nothing to do' : sql.trimEnd(),
    });
    return 0;
  }
  const store = await openStore(url, { clock: systemClock, migrations: verify ? 'verify' : 'migrate' });
  await store.close();
  const changed = sql !== '';
  print(console, {
    json,
    data: { changed },
    text: changed ? 'The schema is now up to date.' : 'The schema is up to date.',
  });
  return 0;
}
