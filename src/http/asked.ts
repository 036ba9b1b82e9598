import type { Engine } from '../engine/engine.js';
import type { ApiRequest, Backend, Caller } from './route.js';

type Parts = Pick<ApiRequest<unknown, unknown, unknown>, 'params' | 'query' | 'body' | 'newId'> & {
  readonly caller: Caller;
};

/**
 * One request as its route sees it. A class, so that all have one shape, and what few routes look at is only made when
 * they do: a copy of the backend's parts for each request took longer than reading its body (bench/http).
 */
export class Asked implements ApiRequest<unknown, unknown, unknown> {
  readonly caller: Caller;
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly newId: (bucket?: number) => string;
  readonly #backend: Backend;
  readonly #raw: Request;

  constructor(backend: Backend, raw: Request, { caller, params, query, body, newId }: Parts) {
    this.#backend = backend;
    this.#raw = raw;
    this.caller = caller;
    this.params = params;
    this.query = query;
    this.body = body;
    this.newId = newId;
  }

  /** The same request, with other ids for what it creates. */
  withIds(newId: (bucket?: number) => string): Asked {
    const { caller, params, query, body } = this;
    return new Asked(this.#backend, this.#raw, { caller, params, query, body, newId });
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

  get isWorking(): () => boolean | null {
    return this.#backend.isWorking;
  }

  get closing(): AbortSignal {
    return this.#backend.closing;
  }
}
