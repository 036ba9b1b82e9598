import type { Socket } from 'node:net';
import pg from 'pg';
import { questionOf } from './question.js';

/** Of the driver's own queries, which its types keep to themselves: sends one with all that a server may have to be told. */
const { submit: submitInFull } = pg.Query.prototype as unknown as {
  readonly submit: (this: unknown, connection: pg.Connection) => Error | null;
};

export type Worded = {
  /** By which each connection prepares it once. Null: it has no values, such as COMMIT, and is sent as it is. */
  readonly name: string | null;
  readonly text: string;
  readonly values: readonly unknown[];
  /** It may take as long as it likes: that its connection is silent meanwhile means nothing. */
  readonly isPatient: boolean;
};

/** Times are whole milliseconds and fit a number exactly. */
const BIGINT = 20;
export const types = {
  getTypeParser: ((oid: number, format?: 'text') =>
    oid === BIGINT ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/** The driver's types keep it to themselves, too. */
function connectionOf(client: pg.ClientBase): pg.Connection & { readonly stream: Socket } {
  return (client as unknown as { readonly connection: pg.Connection & { readonly stream: Socket } })
    .connection;
}

type Column = { readonly name: string; readonly parse: (text: string) => unknown };
type Columns = {
  readonly list: readonly Column[];
  /** A row of nulls. A copy of it has all its columns already, which is faster than adding them one by one. */
  readonly empty: Readonly<Record<string, unknown>>;
};
const NO_COLUMNS: Columns = { list: [], empty: {} };

/** What is known of a connection. */
type Line = {
  /** What it has been told of the rows of what it has prepared, by name. */
  readonly described: Map<string, Columns>;
  /** How many statements have been asked that are not patient, and not been answered. */
  waiting: number;
};
const lines = new WeakMap<pg.Connection, Line>();

/**
 * A statement on a connection of ours. Of one that is prepared the driver asks each time what its rows look like, which never
 * changes, and writes four messages: what a connection has been told once is not asked again here, and the rest is one message.
 * Of any other it makes a copy, a result and a timer, which take longer than COMMIT does.
 */
class Statement {
  /** For the driver, and as it calls them. */
  readonly name: string | null;
  readonly text: string;
  readonly values: readonly unknown[];
  readonly portal = '';
  /** Set by the driver where its own settings bound every query: it then waits to be told that this one has ended. */
  declare callback?: () => void;

  readonly #answer: Answer;
  readonly #rows: unknown[] = [];
  readonly #line: Line;
  #isWaiting: boolean;
  #columns = NO_COLUMNS;
  #misread: Error | null = null;
  isSent = false;

  constructor({ name, text, values, isPatient }: Worded, line: Line, answer: Answer) {
    this.name = name;
    this.text = text;
    this.values = values;
    this.#line = line;
    this.#answer = answer;
    this.#isWaiting = !isPatient;
    if (this.#isWaiting) line.waiting += 1;
  }

  submit(connection: pg.Connection): Error | null {
    this.isSent = true;
    if (this.name === null) {
      connection.query(this.text);
      return null;
    }
    const columns = this.#line.described.get(this.name);
    const question = columns && questionOf(this.name, this.values);
    if (!question) return submitInFull.call(this, connection);
    this.#columns = columns;
    connection.stream.write(question);
    return null;
  }

  handleRowDescription({ fields }: { readonly fields: readonly pg.FieldDef[] }): void {
    this.#columns = {
      list: fields.map(({ name, dataTypeID }) => ({ name, parse: types.getTypeParser(dataTypeID) })),
      empty: Object.fromEntries(fields.map(({ name }) => [name, null])),
    };
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    try {
      this.#rows.push(rowOf(this.#columns, fields));
    } catch (error) {
      // A parser that the application has set. Thrown from here it would end the process.
      this.#misread = error instanceof Error ? error : new Error(String(error));
    }
  }

  handleCommandComplete(): void {
    const { described } = this.#line;
    if (this.name !== null && !described.has(this.name)) described.set(this.name, this.#columns);
  }

  handleReadyForQuery(): void {
    this.#ended();
    if (this.#misread === null) this.#answer.resolve(this.#rows);
    else this.#answer.reject(this.#misread);
  }

  /** Also before it is sent, where there is nothing to send it on. */
  handleError(error: Error): void {
    this.#ended();
    this.#answer.reject(error);
  }

  #ended(): void {
    if (this.#isWaiting) this.#line.waiting -= 1;
    this.#isWaiting = false;
    this.callback?.();
  }
}

function rowOf({ list, empty }: Columns, fields: readonly (string | null)[]): unknown {
  const row: Record<string, unknown> = { ...empty };
  for (let i = 0; i < fields.length; i++) {
    const text = fields[i] as string | null;
    if (text === null) continue;
    const { name, parse } = list[i] as Column;
    row[name] = parse(text);
  }
  return row;
}

type Answer = { readonly resolve: (rows: unknown[]) => void; readonly reject: (error: Error) => void };

// Behind other statements the driver sends only queries of its own. This is one, without what their constructor makes for others.
Object.setPrototypeOf(Statement.prototype, pg.Query.prototype);

function lineOf(connection: pg.Connection): Line {
  let line = lines.get(connection);
  if (line === undefined) lines.set(connection, (line = { described: new Map(), waiting: 0 }));
  return line;
}

/**
 * Gives a connection up once nothing has passed for so long although a statement waits for its answer. The socket itself keeps the
 * time: a timer for each statement takes a twenty-fifth of what a step costs.
 */
export function giveUpIfSilent(client: pg.ClientBase, silenceMs: number): void {
  const connection = connectionOf(client);
  const { stream } = connection;
  stream.setTimeout(silenceMs);
  stream.on('timeout', () => {
    if (lineOf(connection).waiting > 0) stream.destroy(new Error('read timeout'));
  });
}

/** What is sent on a connection until everything is done that can be done now goes out together: each message by itself wakes the server. */
export function gather(client: pg.ClientBase): void {
  const { stream } = connectionOf(client);
  if (stream.writableCorked > 0) return;
  stream.cork();
  process.nextTick(() => stream.uncork());
}

export function ask(client: pg.ClientBase, asked: Worded): Promise<unknown[]> {
  const connection = connectionOf(client);
  return new Promise((resolve, reject) => {
    const statement = new Statement(asked, lineOf(connection), { resolve, reject });
    client.query(statement);
    // One that has to wait until those ahead of it are answered writes nothing that the socket would count from.
    if (!statement.isSent) countAnew(connection);
  });
}

const countAnew = ({ stream }: { readonly stream: Socket }): unknown =>
  stream.setTimeout(stream.timeout ?? 0);

/** While this lasts the connection is given up if it is silent, whoever has sent what it does not answer. */
export async function listening<T>(client: pg.ClientBase, work: Promise<T>): Promise<T> {
  const connection = connectionOf(client);
  const line = lineOf(connection);
  line.waiting += 1;
  countAnew(connection);
  try {
    return await work;
  } finally {
    line.waiting -= 1;
  }
}

const names = new Map<string, string>();

/** Statements are prepared once per connection; the server wants a short name for each. */
export function nameOf(sql: string): string {
  let name = names.get(sql);
  if (name === undefined) {
    name = `pawl_${names.size}`;
    names.set(sql, name);
  }
  return name;
}
