import { countStatements } from '../harness/meter.js';
import { loadHere } from './peer.js';

type Rows = { readonly rows: readonly { readonly count: string }[] };
export type Client = { query(sql: string): Promise<Rows>; connect(): Promise<void>; end(): Promise<void> };
type Driver = { readonly Client: (new (options: object) => Client) & { readonly prototype: object } };

let counted = false;

/** The `pg` driver that peers share, from now on with its statements counted. */
export function countedPg(): Driver {
  const driver = loadHere<Driver>('pg');
  if (!counted) countStatements(driver.Client);
  counted = true;
  return driver;
}

/** Answers how many rows a query counts, on a connection of its own that is kept open. */
export async function counting(
  url: string,
  sql: string,
): Promise<{ count(): Promise<number>; end(): Promise<void> }> {
  const { Client: Connection } = loadHere<Driver>('pg');
  const client = new Connection({ connectionString: url });
  await client.connect();
  return {
    count: async () => Number((await client.query(sql)).rows[0]?.count),
    end: () => client.end(),
  };
}
