import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/**
 * Stands between a store and its Postgres server and stops a transaction at the last moment: all its statements have
 * run and its locks are held, only the message that commits it is kept back.
 *
 * That message is a plain COMMIT, or, for a statement that is its own transaction, the Sync behind it: in the extended
 * protocol the server commits such a statement when it reads Sync, not when it executes it. A Flush in its place makes
 * the server say that the statement has run.
 */
export class CommitGate {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #ends = 0;
  #pauseAt = 0;
  #reached: () => void = () => undefined;
  #release: () => void = () => undefined;

  private constructor(target: URL) {
    this.#server = createServer((client) => {
      const server = connect(Number(target.port || 5432), target.hostname);
      for (const [socket, other] of [
        [client, server],
        [server, client],
      ] as const) {
        this.#sockets.add(socket);
        socket.setNoDelay(true);
        socket.on('error', () => other.destroy());
        socket.on('close', () => {
          this.#sockets.delete(socket);
          other.destroy();
        });
      }
      relay(client, server, (send) => this.#atEnd(send));
    });
  }

  /** A gate in front of the server of `url`, and the URL that leads through it. */
  static async inFrontOf(url: string): Promise<{ gate: CommitGate; url: string }> {
    const gate = new CommitGate(new URL(url));
    await new Promise<void>((resolve) => {
      gate.#server.listen(0, '127.0.0.1', resolve);
    });
    const { port } = gate.#server.address() as AddressInfo;
    return { gate, url: Object.assign(new URL(url), { host: `127.0.0.1:${port}` }).toString() };
  }

  /** How many transactions have come to their end since the last call of `pauseAt`. */
  get ends(): number {
    return this.#ends;
  }

  /** From now on the `nth` transaction that would commit is stopped; 0 stops none. Resolves when it stands still. */
  pauseAt(nth: number): Promise<void> {
    this.#ends = 0;
    this.#pauseAt = nth;
    return new Promise((resolve) => {
      this.#reached = resolve;
    });
  }

  /** Lets the transaction that was stopped commit, and all that come. */
  open(): void {
    this.#pauseAt = 0;
    this.#release();
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #atEnd(send: () => void): void {
    this.#ends += 1;
    if (this.#ends !== this.#pauseAt) {
      send();
      return;
    }
    this.#release = send;
    this.#reached();
  }
}

const FLUSH = Buffer.from([0x48, 0, 0, 0, 4]);

/** Passes messages on both ways. `atEnd` is given what would end a transaction, to send it when it sees fit. */
function relay(client: Socket, server: Socket, atEnd: (send: () => void) => void): void {
  const asked = messageReader({ greets: true });
  const answered = messageReader({ greets: false });
  let alone = true;
  let executes = false;
  /** What the server has said of the statement that it was last sent; null: nothing yet. */
  let worked: boolean | null = null;
  let onAnswer: (() => void) | null = null;

  client.on('data', (chunk: Buffer) => {
    for (const message of asked(chunk)) {
      const type = String.fromCharCode(message[0] ?? 0);
      const send = (): void => void server.write(message);
      const plain = type === 'Q' ? message.toString('latin1', 5, message.length - 1) : '';
      // The first statement may follow BEGIN before the server has answered, so what was asked for counts.
      if (plain.startsWith('BEGIN')) alone = false;
      if (/^(COMMIT|ROLLBACK)$/.test(plain)) alone = true;
      if (type === 'E') executes = true;
      if (plain === 'COMMIT') {
        atEnd(send);
      } else if (type === 'S' && alone && executes) {
        // A statement that failed has nothing left to commit, and the server may have said so before this Sync came.
        onAnswer = () => (worked === true ? atEnd(send) : send());
        if (worked === null) server.write(FLUSH);
        else answer();
      } else {
        send();
      }
      if (type === 'S') executes = false;
    }
  });

  const answer = (): void => {
    const act = onAnswer;
    onAnswer = null;
    act?.();
  };

  server.on('data', (chunk: Buffer) => {
    client.write(chunk);
    for (const message of answered(chunk)) {
      const type = String.fromCharCode(message[0] ?? 0);
      if (type === 'Z') {
        worked = null;
      } else if (type === 'C' || type === 'E') {
        worked = type === 'C';
        answer();
      }
    }
  });
}

/** Cuts a stream into messages: a type, then a length that counts itself. A client's first one has no type. */
function messageReader({ greets }: { greets: boolean }): (chunk: Buffer) => Buffer[] {
  let rest: Buffer = Buffer.alloc(0);
  let prefix = greets ? 0 : 1;
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    const messages: Buffer[] = [];
    while (rest.length >= prefix + 4) {
      const length = prefix + rest.readUInt32BE(prefix);
      if (rest.length < length) break;
      messages.push(rest.subarray(0, length));
      rest = rest.subarray(length);
      prefix = 1;
    }
    return messages;
  };
}
