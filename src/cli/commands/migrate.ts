import { openStore } from '../../client/open-store.js';
import { planMigration } from '../../client/plan-migration.js';
import { systemClock } from '../../client/system-clock.js';
import { storeOf } from '../config/settings.js';
import { print } from '../console.js';
import { command, examples, type Flags, type Register, type Shell } from '../shell.js';

type Options = Flags & { readonly dryRun?: boolean; readonly verify?: boolean };

export const registerMigrate: Register = (program, shell) => {
  const migrate = command(program, 'migrate', "Bring the store's schema up to this release.")
    .option('--dry-run', 'print the SQL and change nothing')
    .option('--verify', 'change nothing; fail if the schema is not up to date')
    .action((options: Options) => shell.ends(run(shell, options)));
  examples(migrate, 'pawl migrate --dry-run', 'pawl migrate --verify --store postgres://localhost/app');
};

/** Brings a store's schema up to this release, prints what that would take, or only checks. */
async function run(shell: Shell, options: Options): Promise<number> {
  const { console } = shell;
  const { dryRun = false, verify = false, json = false } = options;
  const url = await storeOf(options, shell);
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
