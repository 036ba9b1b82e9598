import { keyOf, listKeys, mayAct, type ApiKey } from '../engine/api-keys.js';
import type { Engine } from '../engine/engine.js';
import { DEFAULT_TENANT } from '../engine/new-job.js';
import { PawlError } from '../errors.js';
import type { Caller, Door, Route } from './route.js';
import { tokenInCookie } from './session-cookie.js';

/** How long a key that was found valid is not looked up again, and so how late a revocation may be noticed. */
const TRUSTED_MS = 5_000;
/** Wrong tokens are not kept, so that only as many lie here as there are keys in use. */
const MOST_TRUSTED = 10_000;

/** Without any key this machine's own user may do everything: there is nobody else to tell apart. */
const LOCAL: Caller = { tenantId: DEFAULT_TENANT, role: 'admin', actor: 'operator:local' };
/** What a proxy says of those whose requests it passes on. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'] as const;
const LOCAL_HOST = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d{1,5})?$/i;

type Trusted = { readonly key: ApiKey; readonly until: number };

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1|localhost)$/;

/** Whether a server that listens there can be reached from this machine only. */
export const isLoopback = (host: string): boolean => LOOPBACK.test(host);

/** Tells who is calling. */
export class Doorkeeper implements Door {
  readonly #engine: Engine;
  readonly #allowsLocal: boolean;
  readonly #trusted = new Map<string, Trusted>();
  #hasKeys = { value: false, until: Number.NEGATIVE_INFINITY };

  /** `allowsLocal`: the server can be reached from this machine only, and does without keys until the first was made. */
  constructor(engine: Engine, { allowsLocal }: { readonly allowsLocal: boolean }) {
    this.#engine = engine;
    this.#allowsLocal = allowsLocal;
  }

  async admit(headers: Headers, { method, access }: Pick<Route, 'method' | 'access'>): Promise<Caller> {
    const caller = await this.#callerOf(headers, method);
    if (access === 'public') return caller;
    const needed = access === 'owner' ? 'admin' : access;
    if (!mayAct(caller.role, needed)) {
      throw new PawlError('FORBIDDEN', {
        detail: `this takes the role ${needed}; the key has the role ${caller.role}`,
        details: { needed, role: caller.role },
      });
    }
    if (access === 'owner' && caller.tenantId !== DEFAULT_TENANT) {
      throw new PawlError('FORBIDDEN', {
        detail: `this concerns all tenants and takes an admin key of the tenant '${DEFAULT_TENANT}'`,
        details: { needed: 'admin', tenant: DEFAULT_TENANT },
      });
    }
    return caller;
  }

  async callerWith(token: string): Promise<Caller> {
    const { id, tenantId, role } = await this.#keyOf(token);
    return { tenantId, role, actor: `operator:${id}` };
  }

  async hasKeys(): Promise<boolean> {
    const now = this.#engine.clock.elapsed();
    if (!this.#hasKeys.value && now >= this.#hasKeys.until) {
      this.#hasKeys = { value: (await listKeys(this.#engine, null)).length > 0, until: now + TRUSTED_MS };
    }
    return this.#hasKeys.value;
  }

  /** Whether anybody could get in. */
  async hasValidKeys(): Promise<boolean> {
    return (await listKeys(this.#engine, null)).some(({ revokedAt }) => revokedAt === null);
  }

  forget(): void {
    this.#trusted.clear();
    this.#hasKeys = { value: false, until: Number.NEGATIVE_INFINITY };
  }

  async #callerOf(headers: Headers, method: Route['method']): Promise<Caller> {
    const authorization = headers.get('authorization');
    if (authorization !== null) return this.callerWith(/^Bearer (\S+)$/i.exec(authorization)?.[1] ?? '');
    if (this.#allowsLocal && !(await this.hasKeys())) {
      expectLocal(headers);
      return LOCAL;
    }
    const token = tokenInCookie(headers);
    if (token === null) throw unauthenticated('the request carries no key');
    expectOwnPage(headers, method);
    return this.callerWith(token);
  }

  async #keyOf(token: string): Promise<ApiKey> {
    const now = this.#engine.clock.elapsed();
    const trusted = this.#trusted.get(token);
    if (trusted && now < trusted.until) return trusted.key;
    this.#trusted.delete(token);
    const key = await keyOf(this.#engine, token);
    if (key === null) throw unauthenticated('the key is not valid');
    if (this.#trusted.size >= MOST_TRUSTED) this.#trusted.clear();
    this.#trusted.set(token, { key, until: now + TRUSTED_MS });
    return key;
  }
}

/**
 * A page of any website can send requests to this machine. Those that come from one say so in `origin`, and those that
 * reached us under a name of its choosing show it in `host`.
 */
function expectLocal(headers: Headers): void {
  const host = headers.get('host') ?? '';
  const origin = headers.get('origin');
  const isForwarded = FORWARDED.some((name) => headers.has(name));
  if (LOCAL_HOST.test(host) && (origin === null || isLocal(origin)) && !isForwarded) return;
  throw new PawlError('FORBIDDEN', {
    detail:
      'without keys, requests are taken from this machine only, not through a proxy and not from pages of other sites',
  });
}

/**
 * A cookie comes along with whatever a browser sends here, so it counts for requests of our own pages only. Writes say
 * where they come from; behind a proxy that changes `host`, the browser still tells that page and address belong together.
 */
function expectOwnPage(headers: Headers, method: Route['method']): void {
  const origin = headers.get('origin');
  if (origin === null && method === 'GET') return;
  const isOurs =
    origin !== null &&
    URL.canParse(origin) &&
    (new URL(origin).host === headers.get('host') || headers.get('sec-fetch-site') === 'same-origin');
  if (isOurs) return;
  throw new PawlError('FORBIDDEN', {
    detail: 'a browser that is signed in may only ask from the pages of this server',
  });
}

function isLocal(origin: string): boolean {
  return URL.canParse(origin) && LOCAL_HOST.test(new URL(origin).host);
}

function unauthenticated(detail: string): PawlError {
  return new PawlError('UNAUTHENTICATED', { detail });
}
