import pg from 'pg';
import { questionOf } from './question.js';

/** Of the driver's own queries, which its types keep to themselves: sends one with all that a server may have to be told. */
const { submit: submitInFull } = pg.Query.prototype as unknown as {
  submit(this: unknown, connection: pg.Connection): Error | null;
};

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

type Told = Map<string, readonly Column[]>;
type Column = { readonly name: string; readonly parse: (text: string) => unknown };

/** What each connection has been told of the rows of what it has prepared, by name. */
const described = new WeakMap<pg.Connection, Told>();

/**
 * A prepared statement on a connection of ours. The driver asks each time what its rows look like, which never changes, and
 * writes four messages: what a connection has been told once is not asked again here, and the rest is one message.
 */
class Statement {
  /** For the driver, and as it calls them. It puts itself before the callback, to end the time. */
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
  readonly query_timeout: number | null;
  readonly portal = '';
  callback: (error: Error | null) => void;

  #rows: unknown[] = [];
  #columns: readonly Column[] = [];
  /** Where what is found out about the columns belongs. */
  #told: Told | null = null;

  constructor(
    { name, text, values, silenceMs }: Prepared,
    { resolve, reject }: { resolve: (rows: unknown[]) => void; reject: (error: Error) => void },
  ) {
    this.name = name;
    this.text = text;
    this.values = values;
    this.query_timeout = silenceMs;
    this.callback = (error) => (error === null ? resolve(this.#rows) : reject(error));
  }

  submit(connection: pg.Connection): Error | null {
    const told = toldOf(connection);
    const columns = told.get(this.name);
    const question = columns && questionOf(this.name, this.values);
    if (!question) {
      this.#told = told;
      return submitInFull.call(this, connection);
    }
    this.#columns = columns;
    connection.stream.write(question);
    return null;
  }

  handleRowDescription({ fields }: { readonly fields: readonly pg.FieldDef[] }): void {
    this.#columns = fields.map(({ name, dataTypeID }) => ({ name, parse: types.getTypeParser(dataTypeID) }));
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const row: Record<string, unknown> = {};
    for (let i = 0; i < fields.length; i++) {
      const { name, parse } = this.#columns[i] as Column;
      const text = fields[i] as string | null;
      row[name] = text === null ? null : parse(text);
    }
    this.#rows.push(row);
  }

  handleCommandComplete(): void {
    this.#told?.set(this.name, this.#columns);
  }

  handleReadyForQuery(): void {
    this.callback(null);
  }

  handleError(error: Error): void {
    this.callback(error);
  }
}

// Behind other statements the driver sends only queries of its own. This is one, without what their constructor makes for others.
Object.setPrototypeOf(Statement.prototype, pg.Query.prototype);

function toldOf(connection: pg.Connection): Told {
  let told = described.get(connection);
  if (told === undefined) described.set(connection, (told = new Map()));
  return told;
}

export function ask(client: pg.ClientBase, asked: Prepared): Promise<unknown[]> {
  return new Promise((resolve, reject) => void client.query(new Statement(asked, { resolve, reject })));
}
