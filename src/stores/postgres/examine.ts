import { Session } from './session.js';

/** What a doctor wants to know of a database. */
export type PostgresFacts = {
  readonly version: string;
  readonly isStandby: boolean;
  /** As the server applies them to this user's sessions. */
  readonly settings: Readonly<Record<(typeof SETTINGS)[number], string>>;
  readonly missingPrivileges: readonly string[];
  readonly tables: readonly { readonly name: string; readonly live: number; readonly dead: number }[];
  /** Jobs that could be claimed now, and since when the one that has waited longest. */
  readonly dueJobs: number;
  readonly oldestDueAt: number | null;
  /** Since when the longest open transaction of anyone has stood, which keeps dead rows from being removed. */
  readonly oldestTransactionMs: number;
};

export const SETTINGS = ['fsync', 'synchronous_commit', 'full_page_writes', 'autovacuum'] as const;

/** Looks, on connections of its own, and changes nothing. */
export async function examinePostgres(url: string, now: number): Promise<PostgresFacts> {
  const session = new Session({ url });
  const { single } = session;
  try {
    const [server] = await single.rows<{ version: string; standby: boolean; longest: number }>(
      `SELECT current_setting('server_version') AS version, pg_is_in_recovery() AS standby,
         coalesce((SELECT max(extract(epoch FROM clock_timestamp() - xact_start) * 1000) FROM pg_stat_activity
           WHERE datname = current_database() AND xact_start IS NOT NULL), 0)::float8 AS longest`,
    );
    const settings = await single.rows<{ name: string; setting: string }>(
      'SELECT name, setting FROM pg_settings WHERE name = ANY($1)',
      [SETTINGS],
    );
    const missing = await single.rows<{ name: string }>(
      `SELECT c.relname || ' ' || privilege AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace,
         unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS privilege
       WHERE n.nspname = 'pawl' AND c.relname <> 'schema_version' AND (c.relkind = 'r' OR (c.relkind = 'v' AND privilege = 'SELECT'))
         AND NOT has_table_privilege(c.oid, privilege) ORDER BY 1`,
    );
    const tables = await single.rows<{ name: string; live: number; dead: number }>(
      `SELECT relname AS name, n_live_tup AS live, n_dead_tup AS dead
       FROM pg_stat_user_tables WHERE schemaname = 'pawl' ORDER BY n_dead_tup DESC, relname`,
    );
    const [due] = await single.rows<{ jobs: number; oldest: number | null }>(
      `SELECT count(*) AS jobs, min(due_at) AS oldest FROM pawl.jobs
       WHERE NOT held AND due_at IS NOT NULL AND due_at <= $1`,
      [now],
    );
    return {
      version: server?.version ?? '',
      isStandby: server?.standby ?? false,
      settings: Object.fromEntries(
        settings.map(({ name, setting }) => [name, setting]),
      ) as PostgresFacts['settings'],
      missingPrivileges: missing.map(({ name }) => name),
      tables,
      dueJobs: due?.jobs ?? 0,
      oldestDueAt: due?.oldest ?? null,
      oldestTransactionMs: server?.longest ?? 0,
    };
  } finally {
    await session.close();
  }
}
