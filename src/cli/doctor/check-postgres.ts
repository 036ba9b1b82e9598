import type { PostgresFacts } from '../../stores/postgres/examine.js';
import { fail, ok, timespan, warn, type Check } from './check.js';

const OLDEST = 14;
const MANY_DEAD = 100_000;
const LONG_TRANSACTION_MS = 600_000;

/** What is lost when a setting is off, and is promised otherwise. */
const DURABLE = {
  fsync: 'a power cut can destroy the database',
  full_page_writes: 'a power cut in the middle of a page destroys it',
  synchronous_commit: 'what was acknowledged last is lost in a crash of the server',
} as const;

export function checkPostgres(facts: PostgresFacts): Check[] {
  const { version, isStandby, missingPrivileges } = facts;
  return [
    Number.parseInt(version, 10) >= OLDEST
      ? ok('version', `Postgres ${version}`)
      : fail('version', `Postgres ${version} is too old: use ${OLDEST} or later`),
    ...(isStandby ? [fail('permissions', 'this server is a standby: connect to the primary', ['G1'])] : []),
    ...(missingPrivileges.length > 0
      ? [fail('permissions', `this user lacks ${missingPrivileges.join(', ')}`, ['G1'])]
      : []),
    ...checkSettings(facts.settings),
    ...checkBloat(facts),
  ];
}

function checkSettings(settings: PostgresFacts['settings']): Check[] {
  const off = (Object.keys(DURABLE) as (keyof typeof DURABLE)[]).filter((name) => settings[name] === 'off');
  const checks = off.map((name) =>
    fail('durability', `${name} is off: ${DURABLE[name]}`, ['G5', 'G2 under F2']),
  );
  if (checks.length === 0)
    checks.push(ok('durability', 'fsync, full_page_writes and synchronous_commit are on'));
  if (settings.autovacuum === 'off') checks.push(warn('vacuum', 'autovacuum is off: dead rows pile up'));
  return checks;
}

function checkBloat({ tables, oldestTransactionMs }: PostgresFacts): Check[] {
  const bloated = tables.filter(({ live, dead }) => dead > MANY_DEAD && dead > live);
  const dead = tables.reduce((sum, table) => sum + table.dead, 0);
  const checks = [
    bloated.length === 0
      ? ok('bloat', `${dead} dead rows in all tables`)
      : warn(
          'bloat',
          `${bloated.map((table) => `${table.name} has ${table.dead} dead rows`).join(', ')}: let autovacuum come more often`,
        ),
  ];
  if (oldestTransactionMs > LONG_TRANSACTION_MS) {
    checks.push(
      warn(
        'transactions',
        `one has been open for ${timespan(oldestTransactionMs)}: until it ends, no dead row is removed and the feed stands still`,
      ),
    );
  }
  return checks;
}
