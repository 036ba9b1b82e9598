import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/**
 * `open`: everything passes. `cut`: connections break, and none is let in. `stalled`: nothing passes, and all of it
 * arrives later. `black hole`: what is sent is gone, and nobody is told, even after the way is open again: connections
 * from that time stay dead.
 */
export type ProxyState = 'open' | 'cut' | 'stalled' | 'black hole';

type Pair = { readonly near: Socket; readonly far: Socket; swallowed: boolean };

/** A way to a server by TCP that can be cut, stalled, or turned into a black hole. */
export class TcpProxy {
  readonly #target: { readonly host: string; readonly port: number };
  readonly #server = createServer({ allowHalfOpen: true }, (near) => this.#accept(near));
  readonly #pairs = new Set<Pair>();
  #state: ProxyState = 'open';
  /** Connections that were let in, and such as broke or were swallowed. */
  accepted = 0;
  struck = 0;

  constructor(target: { readonly host: string; readonly port: number }) {
    this.#target = target;
  }

  /** How many connections it has, dead ones among them. */
  get held(): number {
    return this.#pairs.size;
  }

  /** Answers with its own port on this machine. */
  async open(): Promise<number> {
    await new Promise<void>((resolve) => {
      this.#server.listen(0, '127.0.0.1', resolve);
    });
    return (this.#server.address() as AddressInfo).port;
  }

  become(state: ProxyState): void {
    this.#state = state;
    for (const pair of this.#pairs) this.#treat(pair);
  }

  async close(): Promise<void> {
    for (const pair of this.#pairs) breakUp(pair);
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  #accept(near: Socket): void {
    if (this.#state === 'cut') {
      near.on('error', () => undefined);
      near.resetAndDestroy();
      return;
    }
    this.accepted += 1;
    const pair: Pair = { near, far: connect({ ...this.#target, allowHalfOpen: true }), swallowed: false };
    this.#pairs.add(pair);
    this.#join(pair, near, pair.far);
    this.#join(pair, pair.far, near);
    this.#treat(pair);
  }

  #join(pair: Pair, from: Socket, to: Socket): void {
    from.on('data', (bytes) => {
      if (!pair.swallowed && !to.destroyed) to.write(bytes);
    });
    from.on('error', () => undefined);
    // Not even a farewell is answered from a black hole.
    from.on('end', () => {
      if (!pair.swallowed) to.end();
    });
    from.on('close', () => {
      this.#pairs.delete(pair);
      // Whoever is on the other side of a black hole hears nothing of it.
      if (!pair.swallowed) to.destroy();
      else pair.far.destroy();
    });
  }

  #treat(pair: Pair): void {
    const { near, far } = pair;
    if (this.#state === 'cut') {
      this.struck += 1;
      breakUp(pair);
    } else if (this.#state === 'black hole') {
      this.struck += 1;
      pair.swallowed = true;
    } else if (this.#state === 'stalled') {
      this.struck += 1;
      near.pause();
      far.pause();
    } else {
      near.resume();
      far.resume();
    }
  }
}

function breakUp({ near, far }: Pair): void {
  near.resetAndDestroy();
  far.destroy();
}
