import type { Peer } from './peer.js';
import { REDIS_SETTINGS, redisVersion, startRedis } from './redis-server.js';
import { RESTATE_SETTINGS, startRestate } from './restate-server.js';
import type { ServerProcess } from './server-process.js';

type Place = 'postgres' | 'sqlite' | (() => readonly [string, string]) | { readonly reason: string };

/** The servers that peers bring along, each started when the first of them needs it. */
export class Servers {
  readonly #running: ServerProcess[] = [];
  #used = 0;

  /** Where a peer keeps its jobs; or why it has no such place here. */
  async placeOf({ on }: Peer): Promise<Place> {
    if (on === 'postgres' || on === 'sqlite') return on;
    try {
      const server = await (on === 'redis' ? startRedis() : startRestate());
      this.#running.push(server);
      // Redis has a queue of its own for each measurement; Restate forgets what has ended.
      return () =>
        on === 'redis' ? [this.#queue(server.url), this.#queue(server.url)] : [server.url, server.url];
    } catch (error) {
      return { reason: error instanceof Error ? error.message : String(error) };
    }
  }

  about({ on }: Peer): string {
    if (on === 'redis') return `; Redis ${safely(redisVersion)}, ${REDIS_SETTINGS}`;
    return on === 'restate' ? `; ${RESTATE_SETTINGS}` : '';
  }

  async stop(): Promise<void> {
    for (const { stop } of this.#running) await stop();
  }

  #queue(url: string): string {
    return `${url}/#${this.#used++}`;
  }
}

function safely(tell: () => string): string {
  try {
    return tell();
  } catch {
    return 'not installed';
  }
}
