import type { Engine } from '../engine/engine.js';
import type { IncomingMessage } from 'node:http';
import type { ApiRequest, Backend, Route } from './route.js';

/** A request as it came over the wire. */
export type Incoming = Pick<IncomingMessage, 'method' | 'url'> & {
  readonly socket: Pick<IncomingMessage['socket'], 'destroy'>;
};

type Parts = Pick<ApiRequest<unknown, unknown, unknown>, 'caller' | 'params' | 'query' | 'body' | 'newId'> & {
  readonly route: Pick<Route, 'method' | 'access'>;
  readonly incoming: Incoming;
};

/**
 * One request as its route sees it. A class, so that all have one shape, and what few routes look at is only made when
 * they do: a copy of the backend's parts for each request took longer than reading its body (bench/http).
 */
export class Asked implements ApiRequest<unknown, unknown, unknown> {
  readonly caller: Parts['caller'];
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly newId: Parts['newId'];
  readonly #backend: Backend;
  readonly #raw: Request;
  readonly #route: Parts['route'];
  readonly #incoming: Incoming;

  constructor(backend: Backend, raw: Request, parts: Parts) {
    this.#backend = backend;
    this.#raw = raw;
    this.#route = parts.route;
    this.#incoming = parts.incoming;
    this.caller = parts.caller;
    this.params = parts.params;
    this.query = parts.query;
    this.body = parts.body;
    this.newId = parts.newId;
  }

  /** The same request, with other ids for what it creates. */
  withIds(newId: Parts['newId']): Asked {
    const { caller, params, query, body } = this;
    const [route, incoming] = [this.#route, this.#incoming];
    return new Asked(this.#backend, this.#raw, { caller, params, query, body, newId, route, incoming });
  }

  get admitAgain(): () => Promise<unknown> {
    return () => this.#backend.door.admit(this.#raw.headers, this.#route);
  }

  get hangUp(): () => void {
    return () => void this.#incoming.socket.destroy();
  }

  get header(): (name: string) => string | undefined {
    const { headers } = this.#raw;
    return (name) => headers.get(name) ?? undefined;
  }

  /** It takes a controller of its own. */
  get signal(): AbortSignal {
    return this.#raw.signal;
  }

  get engine(): Engine {
    return this.#backend.engine;
  }

  get tasks(): Backend['tasks'] {
    return this.#backend.tasks;
  }

  get defaultTask(): string {
    return this.#backend.defaultTask;
  }

  get feed(): Backend['feed'] {
    return this.#backend.feed;
  }

  get metrics(): Backend['metrics'] {
    return this.#backend.metrics;
  }

  get desk(): Backend['desk'] {
    return this.#backend.desk;
  }

  get door(): Backend['door'] {
    return this.#backend.door;
  }

  get runs(): Backend['runs'] {
    return this.#backend.runs;
  }

  get isWorking(): () => boolean | null {
    return this.#backend.isWorking;
  }

  get closing(): AbortSignal {
    return this.#backend.closing;
  }
}
