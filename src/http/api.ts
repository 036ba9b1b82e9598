import { Hono, type Context } from 'hono';
import {
  errorEnvelope,
  successEnvelope,
  snakeCase,
  type ContractName,
  type Meta,
} from '../contracts/index.js';
import { knownError, PawlError } from '../errors.js';
import { BUCKETS } from '../kernel/index.js';
import { Asked, type Incoming } from './asked.js';
import { ERROR_STATUS } from './error-status.js';
import { beginKeyed, type Keyed } from './first-answers.js';
import { MOST_PUBLIC_BYTES, MOST_REQUEST_BYTES, readBody } from './read-body.js';
import { readFields } from './read-fields.js';
import { isKeyed, type Answer, type Backend, type Caller, type Route } from './route.js';

const REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;
const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}/;
/** The caller has gone away. No standard has a status for it; this one is what proxies log. */
const GONE = 499;
/** What of an address is not its path. */
type Address = { param(): Record<string, string>; query(): Record<string, string> };
const NOTHING_MORE: Address = { param: () => ({}), query: () => ({}) };
const NOBODY: Caller = { tenantId: '', role: 'viewer', actor: '' };

/** The HTTP API: every route of the table, with what all of them have in common. */
export class Api {
  readonly #app = new Hono<{ Bindings: Incoming }>();
  readonly #backend: Backend;
  /** Routes without parameters, by method and path. */
  readonly #exact = new Map<string, Route>();

  constructor(backend: Backend, routes: readonly Route[]) {
    this.#backend = backend;
    for (const route of routes) {
      if (!route.path.includes(':')) this.#exact.set(`${route.method} ${route.path}`, route);
      this.#app.on(route.method, route.path, ({ req, env }) =>
        this.#serve(req.raw, route, { address: req, incoming: env }),
      );
    }
    // Kept out of the router: a second match for every path would cost each request its quickest way.
    const known = routes.map(({ method, path }) => ({ method, pattern: patternOf(path) }));
    this.#app.notFound((context) => {
      const path = new URL(context.req.url).pathname;
      const there = known.filter(({ pattern }) => pattern.test(path));
      return this.#refuse(context, there.length === 0 ? null : there.map(({ method }) => method));
    });
  }

  /** Answers a request. One for just the path of a route needs no router. */
  async fetch(raw: Request, incoming: Incoming): Promise<Response> {
    const route = this.#exact.get(`${incoming.method} ${incoming.url}`);
    return route
      ? this.#serve(raw, route, { address: NOTHING_MORE, incoming })
      : this.#app.fetch(raw, incoming);
  }

  /** The answer to what is no request at all: a host or an address that cannot be one. */
  refuse(cause: unknown): Response {
    const detail = 'the address of the request, or its host, cannot be read';
    const error = new PawlError('INVALID_REQUEST', { detail, cause });
    return this.#fail(error, { contract: 'jobs', meta: this.#metaOf(new Headers()) });
  }

  async #serve(
    raw: Request,
    route: Route,
    { address, incoming }: { address: Address; incoming: Incoming },
  ): Promise<Response> {
    const { headers } = raw;
    const meta = this.#metaOf(headers);
    try {
      const caller = route.access === 'public' ? NOBODY : await this.#backend.door.admit(headers, route);
      const params = readFields(route.params, address.param(), 'path');
      const query = readFields(route.query, address.query(), 'query');
      const { text, value } = route.body
        ? await readBody(raw, mostBytesOf(route))
        : { text: '', value: null };
      const body = route.body ? readFields(route.body, value, 'body') : null;
      const request = new Asked(this.#backend, raw, {
        route,
        caller,
        params,
        query,
        body,
        newId: this.#newId,
        incoming,
      });
      const key = isKeyed(route) ? headers.get('idempotency-key') : null;
      if (key !== null) {
        const { pathname, searchParams } = new URL(raw.url);
        const endpoint = `${route.method} ${pathname}?${searchParams.toString()}`;
        return await this.#serveOnce(route, request, { meta, key, endpoint, text });
      }
      const answer = await route.handle(request);
      if (!(answer instanceof Response)) return respond(answer, meta);
      // Nobody is going to read it: a stream would go on for ever.
      if (raw.method === 'HEAD') await answer.body?.cancel();
      return answer;
    } catch (error) {
      // Whoever asked has gone, and what waited for them ended: nobody reads this, and nothing is wrong.
      if (!(error instanceof PawlError) && raw.signal.aborted) return new Response(null, { status: GONE });
      return this.#fail(error, { contract: route.contract, meta });
    }
  }

  /** The first answer to a key is every later one's too. An error of ours, or of the store, is no answer. */
  async #serveOnce(
    route: Route,
    request: Asked,
    { meta, ...asked }: { meta: Meta; key: string; endpoint: string; text: string },
  ): Promise<Response> {
    const { engine, caller } = request;
    const first = await beginKeyed(engine, asked, caller);
    if ('status' in first)
      return json(first.body, first.status, { ...HEADERS, 'idempotency-replayed': 'true' });
    const response = await this.#attempt(route, request.withIds(first.newId), meta);
    try {
      await settle(first, response, route.once ?? null);
    } catch (error) {
      // It is done all the same. Whoever repeats it finds the same by its ids, once the first request counts as abandoned.
      engine.log.warn('the answer to an Idempotency-Key could not be kept', { ...meta, error });
    }
    return response;
  }

  async #attempt(route: Route, request: Asked, meta: Meta): Promise<Response> {
    try {
      const answer = await route.handle(request);
      return answer instanceof Response ? answer : respond(answer, meta);
    } catch (error) {
      return this.#fail(error, { contract: route.contract, meta });
    }
  }

  readonly #newId = (bucket?: number): string => {
    const { engine } = this.#backend;
    return engine.newId(bucket ?? engine.random.int(BUCKETS));
  };

  #metaOf(headers: Headers): Meta {
    const given = headers.get('x-request-id');
    const request_id = given !== null && REQUEST_ID.test(given) ? given : this.#backend.engine.newId(0);
    const trace_id = TRACEPARENT.exec(headers.get('traceparent') ?? '')?.[1] ?? `trace-${request_id}`;
    return { trace_id, request_id };
  }

  #fail(error: unknown, { contract, meta }: { contract: ContractName; meta: Meta }): Response {
    const { code, message, details } = knownError(error) ?? internal(error);
    const status = ERROR_STATUS[code];
    if (status >= 500) this.#backend.engine.log.error('a request failed', { ...meta, error });
    const { fields, facts } = split(details);
    const body = errorEnvelope({ code, message, details: facts }, { contract, meta, fields });
    return json(
      JSON.stringify(body),
      status,
      status === 401 ? { ...HEADERS, 'www-authenticate': 'Bearer' } : HEADERS,
    );
  }

  #refuse(context: Context, methods: readonly string[] | null): Response {
    const { method } = context.req;
    const path = new URL(context.req.url).pathname.slice(0, 200);
    const error =
      methods === null
        ? new PawlError('ROUTE_NOT_FOUND', { detail: `there is nothing at ${path}` })
        : new PawlError('METHOD_NOT_ALLOWED', { detail: `${path} does not take ${method}` });
    const response = this.#fail(error, { contract: 'jobs', meta: this.#metaOf(context.req.raw.headers) });
    if (methods !== null) response.headers.set('allow', methods.join(', '));
    return response;
  }
}

const mostBytesOf = ({ access }: Route): number =>
  access === 'public' ? MOST_PUBLIC_BYTES : MOST_REQUEST_BYTES;

async function settle(first: Keyed, response: Response, once: string | null): Promise<void> {
  const { status } = response;
  const isFinal = status < 500 && status !== 401 && status !== 403;
  if (!isFinal) return first.release();
  const body = await response.clone().text();
  await first.remember({ status, body: once === null ? body : withoutSecret(body, once) });
}

/** Secrets are not kept, not even for as long as an answer is. */
function withoutSecret(body: string, once: string): string {
  const answer = JSON.parse(body) as { data?: Record<string, unknown> };
  return JSON.stringify(answer.data ? { ...answer, data: { ...answer.data, [once]: null } } : answer);
}

function respond({ status, data, cookie }: Answer, meta: Meta): Response {
  const headers = cookie === undefined ? HEADERS : { ...HEADERS, 'set-cookie': cookie };
  return json(JSON.stringify(successEnvelope(data, meta)), status, headers);
}

const HEADERS = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };

function json(body: string, status: number, headers: Record<string, string>): Response {
  return new Response(body, { status, headers });
}

/** What is to be said to a stranger about a bug. */
function internal(cause: unknown): PawlError {
  return new PawlError('INTERNAL', { detail: 'something went wrong that should not', cause });
}

/** What a contract names itself, and so stands beside the code, though it is a small fact. */
const NAMED: ReadonlySet<string> = new Set(['reason']);

/** Small facts go under `details`; what a contract names itself, and what is no small fact, stands beside the code. */
function split(details: PawlError['details']) {
  const facts: Record<string, string | number | boolean | null> = {};
  const fields: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(details)) {
    const isSmall = value === null || ['string', 'number', 'boolean'].includes(typeof value);
    if (isSmall && !NAMED.has(name)) {
      facts[snakeCase(name)] = value as string;
    } else if (value !== undefined) fields[snakeCase(name)] = value;
  }
  return { facts, fields };
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}$`);
}
