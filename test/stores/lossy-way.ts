import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** What a client says before it leaves. */
const FAREWELL = Buffer.from([0x58, 0, 0, 0, 4]);

/** A way to a server on which connections are lost without a word. It tells on how many of those something was asked since. */
export class LossyWay {
  readonly url: string;
  readonly #live: ReadonlySet<Socket>;
  readonly #lost: Map<Socket, { asked: boolean }>;

  private constructor(url: string, live: ReadonlySet<Socket>, lost: Map<Socket, { asked: boolean }>) {
    this.url = url;
    this.#live = live;
    this.#lost = lost;
  }

  static async to(url: string): Promise<LossyWay> {
    const { port, hostname } = new URL(url);
    const live = new Set<Socket>();
    const lost = new Map<Socket, { asked: boolean }>();
    const server = createServer((near) => {
      const far = connect(Number(port), hostname);
      live.add(near);
      near.on('data', (bytes) => {
        const loss = lost.get(near);
        if (loss === undefined) far.write(bytes);
        else if (!bytes.equals(FAREWELL)) loss.asked = true;
      });
      far.on('data', (bytes) => void (lost.has(near) || near.write(bytes)));
      for (const socket of [near, far]) socket.on('error', () => undefined);
      far.on('close', () => void (lost.has(near) || near.destroy()));
      near.on('close', () => {
        live.delete(near);
        far.destroy();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.close();
      for (const socket of live) socket.destroy();
    });
    const { port: own } = server.address() as AddressInfo;
    return new LossyWay(url.replace(`${hostname}:${port}`, `127.0.0.1:${own}`), live, lost);
  }

  /** Of all connections that there are nothing arrives any more, and those to come are well. How many it is. */
  lose(): number {
    for (const socket of this.#live) this.#lost.set(socket, { asked: false });
    return this.#lost.size;
  }

  get askedInVain(): number {
    return [...this.#lost.values()].filter(({ asked }) => asked).length;
  }
}
