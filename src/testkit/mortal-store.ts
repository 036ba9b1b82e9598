import type { CommitItem, Store } from '../ports/store.js';
import { decodeEvents } from '../kernel/index.js';

/** Where a process can die: just before a write reaches the store, or after it did and before anyone hears. */
export type CrashPoint = { readonly when: 'before' | 'after'; readonly nth: number };

const WRITES: ReadonlySet<string> = new Set<keyof Store>([
  'commit',
  'claim',
  'putEffect',
  'putMessage',
  'settleOutbox',
]);

/**
 * A store as a process sees it that dies at one of its writes: from then on nothing is answered any more. Writes are
 * counted from 1, and named by what they write.
 */
export class MortalStore {
  readonly #inner: Store;
  readonly #dieAt: CrashPoint | null;
  readonly writes: string[] = [];
  #dead = false;

  constructor(inner: Store, dieAt: CrashPoint | null) {
    this.#inner = inner;
    this.#dieAt = dieAt;
  }

  get isDead(): boolean {
    return this.#dead;
  }

  get store(): Store {
    return new Proxy(this.#inner, {
      get: (target, name: keyof Store) => {
        const method = target[name] as (...asked: unknown[]) => unknown;
        if (name === 'close') return async () => undefined;
        if (name === 'wake' || name === 'listen') return method;
        return async (...asked: unknown[]) => this.#call(name, () => method(...asked), asked);
      },
    });
  }

  async #call(name: string, ask: () => unknown, asked: readonly unknown[]): Promise<unknown> {
    if (this.#dead) return forEver();
    if (!WRITES.has(name)) return answered(this, await ask());
    if (name === 'claim') return this.#claim(ask);
    this.writes.push(nameOf(name, asked));
    if (this.#diesAt('before')) return this.#die();
    const reply = await ask();
    return this.#diesAt('after') ? this.#die() : answered(this, reply);
  }

  /** Only a claim that found something is a write. */
  async #claim(ask: () => unknown): Promise<unknown> {
    const reply = (await ask()) as { jobs: readonly unknown[] };
    if (reply.jobs.length === 0) return answered(this, reply);
    this.writes.push('claim');
    const dies = this.#dieAt?.nth === this.writes.length;
    return dies ? this.#die() : answered(this, reply);
  }

  #diesAt(when: CrashPoint['when']): boolean {
    return this.#dieAt?.nth === this.writes.length && this.#dieAt.when === when;
  }

  #die(): Promise<never> {
    this.#dead = true;
    return forEver();
  }
}

function answered<T>(mortal: MortalStore, reply: T): T | Promise<never> {
  return mortal.isDead ? forEver() : reply;
}

function forEver(): Promise<never> {
  return new Promise(() => undefined);
}

function nameOf(method: string, [first]: readonly unknown[]): string {
  if (method !== 'commit') return method;
  return (first as readonly CommitItem[])
    .map(({ body }) => {
      const decoded = decodeEvents(body);
      return decoded.ok ? decoded.events.map(({ type }) => type).join('+') : 'unreadable';
    })
    .join(', ');
}
