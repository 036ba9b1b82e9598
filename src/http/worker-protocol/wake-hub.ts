import type { Engine } from '../../engine/engine.js';

/** Lanes whose last wake-up is remembered. One that is forgotten costs its workers a poll. */
const MOST_LANES = 10_000;

/** `hub` and `seq`: where this answer ends, for the next question. */
export type Heard = { readonly lanes: readonly string[]; readonly hub: string; readonly seq: number };
export type Asking = {
  readonly lanes: readonly string[];
  readonly after: { readonly hub: string; readonly seq: number } | null;
  readonly waitMs: number;
  readonly gone: readonly AbortSignal[];
};

/**
 * Passes wake-ups on to workers that ask for them again and again. Hears the store once for all of them, and remembers
 * what came between two questions of one worker. All of it is a hint.
 */
export class WakeHub {
  readonly #engine: Engine;
  readonly #id: string;
  readonly #heardAt = new Map<string, number>();
  readonly #asking = new Set<() => void>();
  #seq = 0;
  #stop: (() => Promise<void>) | null = null;

  constructor(engine: Engine) {
    this.#engine = engine;
    this.#id = engine.newId(0);
  }

  /** The lanes that have work since the last answer, at once if there are any; none when the time is over. */
  async next({ lanes, after, waitMs, gone }: Asking): Promise<Heard> {
    this.#stop ??= this.#engine.store.listen((heard) => this.#hear(heard));
    // Another server, or another life of this one, answered last: there is no telling what was missed.
    if (after?.hub !== this.#id) return { lanes, hub: this.#id, seq: this.#seq };
    const news = () => lanes.filter((lane) => (this.#heardAt.get(lane) ?? 0) > after.seq);
    const wait = { until: this.#engine.clock.elapsed() + waitMs, gone };
    while (news().length === 0 && (await this.#rings(wait))) continue;
    return { lanes: news(), hub: this.#id, seq: this.#seq };
  }

  async close(): Promise<void> {
    await this.#stop?.();
    this.#stop = null;
  }

  #hear(lanes: readonly string[]): void {
    this.#seq += 1;
    for (const lane of lanes) {
      this.#heardAt.delete(lane);
      this.#heardAt.set(lane, this.#seq);
    }
    while (this.#heardAt.size > MOST_LANES) this.#heardAt.delete(this.#heardAt.keys().next().value ?? '');
    for (const ring of this.#asking) ring();
  }

  /** Until something is heard. False: the time is over, or nobody waits any more. */
  async #rings({ until, gone }: { until: number; gone: readonly AbortSignal[] }): Promise<boolean> {
    const leftMs = until - this.#engine.clock.elapsed();
    if (leftMs <= 0 || gone.some(({ aborted }) => aborted)) return false;
    let ring = (): void => undefined;
    let leave = (): void => undefined;
    const over = new Promise<boolean>((resolve) => {
      ring = () => resolve(true);
      leave = () => resolve(false);
    });
    const cancel = this.#engine.alarms.set(leftMs, leave);
    this.#asking.add(ring);
    for (const end of gone) end.addEventListener('abort', leave);
    const heard = await over;
    cancel();
    this.#asking.delete(ring);
    for (const end of gone) end.removeEventListener('abort', leave);
    return heard;
  }
}
