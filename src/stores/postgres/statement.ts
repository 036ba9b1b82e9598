import pg from 'pg';
import { questionOf } from './question.js';

/** What the driver calls on a query, which its types keep to themselves. */
interface DriverQuery {
  submit(connection: pg.Connection): Error | null;
  handleRowDescription(message: { readonly fields: readonly pg.FieldDef[] }): void;
  handleDataRow(message: { readonly fields: readonly (string | null)[] }): void;
  handleCommandComplete(): void;
  handleReadyForQuery(): void;
}
const DriverQuery = pg.Query as unknown as new (query: Prepared) => DriverQuery;

export type Prepared = {
  /** By which each connection prepares it once. */
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
  /** It is given up, and its connection with it, once it has not been answered for so long. Null: never. */
  readonly silenceMs: number | null;
};

/** Times are whole milliseconds and fit a number exactly. */
const BIGINT = 20;
export const types = {
  getTypeParser: ((oid: number, format?: 'text') =>
    oid === BIGINT ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

type Column = { readonly name: string; readonly parse: (text: string) => unknown };

/** What each connection has been told of the rows of what it has prepared, by name. */
const described = new WeakMap<pg.Connection, Map<string, readonly Column[]>>();

/**
 * A prepared statement on a connection of ours. The driver asks each time what its rows look like, which never changes, and
 * writes four messages: what a connection has been told once is not asked again here, and the rest is one message.
 */
class Statement extends DriverQuery {
  /** For the driver, as is what it calls back: it puts its own in between, which ends the time. */
  readonly query_timeout: number | null;
  callback: (error: Error | null) => void;
  readonly #asked: Prepared;
  readonly #rows: unknown[] = [];
  #columns: readonly Column[] = [];
  /** Where what is found out about the columns belongs. */
  #told: Map<string, readonly Column[]> | null = null;

  constructor(
    asked: Prepared,
    { resolve, reject }: { resolve: (rows: unknown[]) => void; reject: (error: Error) => void },
  ) {
    super(asked);
    this.#asked = asked;
    this.query_timeout = asked.silenceMs;
    this.callback = (error) => (error === null ? resolve(this.#rows) : reject(error));
  }

  override submit(connection: pg.Connection): Error | null {
    const told = toldOf(connection);
    const columns = told.get(this.#asked.name);
    const question = columns && questionOf(this.#asked.name, this.#asked.values);
    if (!question) {
      this.#told = told;
      return super.submit(connection);
    }
    this.#columns = columns;
    connection.stream.write(question);
    return null;
  }

  override handleRowDescription({ fields }: { readonly fields: readonly pg.FieldDef[] }): void {
    this.#columns = fields.map(({ name, dataTypeID }) => ({ name, parse: types.getTypeParser(dataTypeID) }));
  }

  override handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const row: Record<string, unknown> = {};
    for (let i = 0; i < fields.length; i++) {
      const { name, parse } = this.#columns[i] as Column;
      const text = fields[i] as string | null;
      row[name] = text === null ? null : parse(text);
    }
    this.#rows.push(row);
  }

  override handleCommandComplete(): void {
    this.#told?.set(this.#asked.name, this.#columns);
  }

  override handleReadyForQuery(): void {
    this.callback(null);
  }
}

function toldOf(connection: pg.Connection): Map<string, readonly Column[]> {
  let told = described.get(connection);
  if (told === undefined) described.set(connection, (told = new Map()));
  return told;
}

export function ask(client: pg.ClientBase, asked: Prepared): Promise<unknown[]> {
  return new Promise((resolve, reject) => void client.query(new Statement(asked, { resolve, reject })));
}
