import type { Effect } from '../client/effect.js';
import { PawlError } from '../errors.js';
import { decodeEvents } from '../kernel/index.js';
import type { CommitItem, Store } from '../ports/store.js';
import { InjectedFailure, type FailureInjection } from './failure-injection.js';

/** What the engine does that can be made to fail: each has a point before it and one after. */
export const ENGINE_STAGES = ['claim', 'intent', 'execute', 'effect', 'commit', 'heartbeat', 'wake'] as const;
export type EngineStage = (typeof ENGINE_STAGES)[number];

/** `intent`: the commit that says that an effect is about to be entered. `effect`: its result is kept. */
export const ENGINE_POINTS = ENGINE_STAGES.flatMap((stage) => [`${stage}.before`, `${stage}.after`] as const);

const STAGES: Readonly<Partial<Record<keyof Store, EngineStage>>> = {
  claim: 'claim',
  putEffect: 'effect',
  beat: 'heartbeat',
};

/**
 * A store as a process sees it whose operations fail as the rules say. After `process_restart_interrupt` nothing is
 * answered any more: that process is dead, and whoever opens another on the same store takes over from it.
 */
export class InjectedStore {
  readonly #inner: Store;
  readonly #injection: FailureInjection;
  #dead = false;

  constructor(inner: Store, injection: FailureInjection) {
    this.#inner = inner;
    this.#injection = injection;
  }

  get isDead(): boolean {
    return this.#dead;
  }

  get store(): Store {
    return new Proxy(this.#inner, {
      get: (target, name: keyof Store) => {
        const method = target[name] as (...asked: unknown[]) => unknown;
        if (name === 'wake') return (lanes: readonly string[]) => this.#wake(() => method(lanes));
        if (name === 'listen') return method;
        if (name === 'close') return async () => undefined;
        return (...asked: unknown[]) => this.#call(stageOf(name, asked), () => method(...asked));
      },
    });
  }

  /** The same effect, with a point before its body and one after. */
  effect<I, O>({ definition, ...rest }: Effect<I, O>): Effect<I, O> {
    const { run } = definition;
    return {
      ...rest,
      definition: {
        ...definition,
        run: async (input, context) => {
          await this.#point('execute.before');
          const result = await run(input, context);
          await this.#point('execute.after');
          return result;
        },
      },
    };
  }

  async #call(stage: EngineStage | null, ask: () => unknown): Promise<unknown> {
    if (this.#dead) return forEver();
    if (stage !== null) await this.#outage(`${stage}.before`);
    const reply = await ask();
    if (stage !== null) await this.#outage(`${stage}.after`);
    return this.#dead ? forEver() : reply;
  }

  /** A wake-up is a hint: whatever happens to it, it is only lost. */
  #wake(wake: () => unknown): void {
    try {
      this.#injection.inject('wake.before');
      if (!this.#dead) wake();
      this.#injection.inject('wake.after');
    } catch (error) {
      if (!(error instanceof InjectedFailure)) throw error;
      if (error.mode === 'process_restart_interrupt') this.#dead = true;
    }
  }

  /** To whoever asks a store, both kinds of failure look alike: it cannot tell what was done. */
  async #outage(point: string): Promise<void> {
    try {
      await this.#point(point);
    } catch (error) {
      if (!(error instanceof InjectedFailure)) throw error;
      throw new PawlError('STORE_UNAVAILABLE', { detail: error.message, cause: error });
    }
  }

  async #point(point: string): Promise<void> {
    try {
      this.#injection.inject(point);
    } catch (error) {
      if (!(error instanceof InjectedFailure) || error.mode !== 'process_restart_interrupt') throw error;
      this.#dead = true;
      await forEver();
    }
  }
}

function stageOf(name: keyof Store, [first]: readonly unknown[]): EngineStage | null {
  if (name !== 'commit') return STAGES[name] ?? null;
  return (first as readonly CommitItem[]).some(isIntent) ? 'intent' : 'commit';
}

function isIntent({ body }: CommitItem): boolean {
  const decoded = decodeEvents(body);
  return decoded.ok && decoded.events.some(({ type }) => type === 'effect.intended');
}

function forEver(): Promise<never> {
  return new Promise(() => undefined);
}
