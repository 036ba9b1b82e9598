import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What becomes of one request: it gets lost on its way there, on its way back, or not at all. */
export type Fate = 'there' | 'back' | 'through';

/** A way to a server on which requests and replies get lost. The connection breaks then, as it does in life. */
export class LossyProxy {
  readonly #server = createServer((asked, answer) => this.#pass(asked, answer));
  /** Decides on each request; sees its path, and how many of that path came before. */
  fate: (path: string, nth: number) => Fate = () => 'through';
  target: string;
  lost = 0;
  readonly #counts = new Map<string, number>();

  constructor(target: string) {
    this.target = target;
  }

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Breaks every connection; what was under way is lost. */
  cut(): void {
    this.#server.closeAllConnections();
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #pass(asked: IncomingMessage, answer: ServerResponse): void {
    const path = (asked.url ?? '').replace(/\?.*$/, '').replace(/\/jobs\/[^/]+/, '/jobs/:job');
    const nth = (this.#counts.get(path) ?? 0) + 1;
    this.#counts.set(path, nth);
    const fate = this.fate(path, nth);
    const cut = () => {
      this.lost += 1;
      asked.socket.destroy();
    };
    if (fate === 'there') {
      cut();
      return;
    }
    const onward = request(
      `${this.target}${asked.url}`,
      { method: asked.method ?? 'GET', headers: asked.headers, agent: false },
      (reply) => {
        if (fate === 'back') {
          reply.resume();
          reply.on('end', cut);
          return;
        }
        answer.writeHead(reply.statusCode ?? 502, reply.headers);
        reply.pipe(answer);
      },
    );
    onward.on('error', () => asked.socket.destroy());
    asked.pipe(onward);
  }
}
