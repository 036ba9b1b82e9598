import { keyOf, listKeys, mayAct, type ApiKey } from '../engine/api-keys.js';
import type { Engine } from '../engine/engine.js';
import { DEFAULT_TENANT } from '../engine/new-job.js';
import { PawlError } from '../errors.js';
import type { Access, Caller } from './route.js';

/** How long a key that was found valid is not looked up again, and so how late a revocation may be noticed. */
const TRUSTED_MS = 5_000;
/** Wrong tokens are not kept, so that only as many lie here as there are keys in use. */
const MOST_TRUSTED = 10_000;

/** Without any key this machine's own user may do everything: there is nobody else to tell apart. */
const LOCAL: Caller = { tenantId: DEFAULT_TENANT, role: 'admin', actor: 'operator:local' };
const LOCAL_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/i;

type Trusted = { readonly key: ApiKey; readonly until: number };

/** Tells who is calling. */
export class Doorkeeper {
  readonly #engine: Engine;
  readonly #allowsLocal: boolean;
  readonly #trusted = new Map<string, Trusted>();
  #hasKeys = { value: false, until: Number.NEGATIVE_INFINITY };

  /** `allowsLocal`: the server can be reached from this machine only, and does without keys while there are none. */
  constructor(engine: Engine, { allowsLocal }: { readonly allowsLocal: boolean }) {
    this.#engine = engine;
    this.#allowsLocal = allowsLocal;
  }

  /** Who makes this request. Throws UNAUTHENTICATED or FORBIDDEN. */
  async admit(headers: Headers, access: Exclude<Access, 'public'>): Promise<Caller> {
    const caller = await this.#callerOf(headers);
    if (!mayAct(caller.role, access === 'owner' ? 'admin' : access)) {
      throw new PawlError('FORBIDDEN', {
        detail: `this takes the role ${access}; the key has the role ${caller.role}`,
        details: { needed: access, role: caller.role },
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

  /** Whether there is a key that is not revoked. */
  async hasKeys(): Promise<boolean> {
    const now = this.#engine.clock.elapsed();
    if (now >= this.#hasKeys.until) {
      const keys = await listKeys(this.#engine, null);
      this.#hasKeys = { value: keys.some(({ revokedAt }) => revokedAt === null), until: now + TRUSTED_MS };
    }
    return this.#hasKeys.value;
  }

  /** Keys were made or revoked here: what is known of them is out of date. */
  forget(): void {
    this.#trusted.clear();
    this.#hasKeys = { value: false, until: Number.NEGATIVE_INFINITY };
  }

  async #callerOf(headers: Headers): Promise<Caller> {
    const authorization = headers.get('authorization');
    if (authorization === null) {
      if (!this.#allowsLocal || (await this.hasKeys())) throw unauthenticated('the request carries no key');
      expectLocal(headers);
      return LOCAL;
    }
    const token = /^Bearer (\S+)$/i.exec(authorization)?.[1] ?? '';
    const { id, tenantId, role } = await this.#keyOf(token);
    return { tenantId, role, actor: `operator:${id}` };
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
  if (LOCAL_HOST.test(host) && (origin === null || isLocal(origin))) return;
  throw new PawlError('FORBIDDEN', {
    detail: 'without keys, requests are taken from this machine only, and not from pages of other sites',
  });
}

function isLocal(origin: string): boolean {
  return URL.canParse(origin) && LOCAL_HOST.test(new URL(origin).host);
}

function unauthenticated(detail: string): PawlError {
  return new PawlError('UNAUTHENTICATED', { detail });
}
