/** The part of `node:sqlite` that the store uses. The package that stands in for it has the same. */
export interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

export interface Statement {
  run(...values: readonly SqlValue[]): { changes: number | bigint; lastInsertRowid: number | bigint };
  get(...values: readonly SqlValue[]): Readonly<Record<string, SqlValue>> | undefined;
  all(...values: readonly SqlValue[]): Readonly<Record<string, SqlValue>>[];
  /** Not in every Node that has its own SQLite. */
  setReturnArrays?(enabled: boolean): void;
}

export type SqlValue = string | number | null;

type Driver = { readonly DatabaseSync: new (path: string) => Database };

/** Earlier ones can corrupt a database in WAL mode when several processes write and one restarts. */
const SOUND_SINCE = [3, 51, 3] as const;

/** Not in every Node that we support, hence a name that the compiler does not look up. */
const NODE_SQLITE: string = 'node:sqlite';

/** Node's own SQLite where it is there and sound, else the one that comes with the package. */
export async function openDatabase(path: string): Promise<Database> {
  const own = await import(NODE_SQLITE).then(
    (module) => module as Driver,
    () => null,
  );
  if (own !== null && isSound(own)) return new own.DatabaseSync(path);
  const { DatabaseSync } = (await import('@photostructure/sqlite')) as unknown as Driver;
  return new DatabaseSync(path);
}

function isSound({ DatabaseSync }: Driver): boolean {
  const probe = new DatabaseSync(':memory:');
  const { version } = probe.prepare('SELECT sqlite_version() AS version').get() ?? {};
  probe.close();
  const found = String(version).split('.').map(Number);
  const difference = SOUND_SINCE.map((part, i) => (found[i] ?? 0) - part).find((part) => part !== 0);
  return difference === undefined || difference > 0;
}
