import { NoEffectError } from '../../engine/failure-of.js';
import { hash32 } from '../../kernel/index.js';
import type { Verdict as Answer } from '../../worker/effect-definition.js';
import type { Hits } from '../hits.js';
import type { Host } from '../host.js';

const REQUEST = hash32('request');

/** Requests to the world outside take no longer than this, once they are sent. */
export const MOST_UNDER_WAY_MS = 400;

/** Who is told what happens here. */
export type Witness = {
  /** A body runs. Answers with what is to be called once it has proof that nothing happened. */
  readonly entered: (host: Host, key: string) => () => void;
  /** A process asks. Answers with what is to be called if it is told that nothing has happened. */
  readonly asked: (host: Host, key: string) => () => void;
};

/**
 * The world outside, where effects happen. It counts what it sees, is asked by nobody but `reconcile` and operators, and
 * does not honour idempotency keys: every entry that should not have been shows.
 */
export class Outside {
  readonly #hits: Hits;
  readonly #witness: Witness;
  /** Results, by idempotency key. */
  readonly #happened = new Map<string, string[]>();

  constructor(hits: Hits, witness: Witness) {
    this.#hits = hits;
    this.#witness = witness;
  }

  /** What an effect has come to, each time that it happened. */
  resultsOf(key: string): readonly string[] {
    return this.#happened.get(key) ?? [];
  }

  /** The body of an effect. */
  async enter(host: Host, key: string, { mayHang }: { mayHang: boolean }): Promise<string> {
    const refused = this.#witness.entered(host, key);
    const drawn = host.random.int(mayHang ? 20 : 16);
    if (host.chance(30)) await host.sleep(host.random.int(50));
    switch (drawn) {
      case 0:
      case 1:
        this.#hits.add('feature', 'effect refused');
        refused();
        throw new NoEffectError('refused', { cause: new Error('the simulated receiver refused') });
      case 2:
        this.#hits.add('feature', 'effect threw, and had not happened');
        throw new Error('the simulated connection broke before');
      case 3:
      case 4:
        this.#hits.add('feature', 'effect threw, and had happened');
        await this.#request(host, key);
        throw new Error('the simulated connection broke after');
      case 16:
        this.#hits.add('feature', 'effect hung, and had not happened');
        return new Promise(() => undefined);
      case 17:
        this.#hits.add('feature', 'effect hung, and had happened');
        await this.#request(host, key);
        return new Promise(() => undefined);
      case 18: {
        // Past its time, and long after somebody may have been told that nothing has happened.
        this.#hits.add('feature', 'effect came too late');
        await host.sleep(2_000 + host.random.int(4_000));
        return this.#request(host, key);
      }
      case 19: {
        this.#hits.add('feature', 'effect took too long');
        const result = await this.#request(host, key);
        await host.sleep(2_000 + host.random.int(4_000));
        return result;
      }
      default:
        return this.#request(host, key);
    }
  }

  /** Tells the truth, as far as it can. */
  async answer(host: Host, key: string): Promise<Answer<string>> {
    const denied = this.#witness.asked(host, key);
    await host.sleep(host.random.int(20));
    if (host.chance(15)) {
      this.#hits.add('feature', 'reconcile cannot tell');
      return { kind: 'cannotTell' };
    }
    const result = this.resultOf(key);
    this.#hits.add('feature', result === null ? 'reconcile: not happened' : 'reconcile: happened');
    if (result === null) denied();
    return result === null ? { kind: 'notHappened' } : { kind: 'happened', result };
  }

  /** The truth, for an operator. */
  resultOf(key: string): string | null {
    return this.resultsOf(key)[0] ?? null;
  }

  /** It happens even if whoever sent it is gone by then. */
  #request(host: Host, key: string): Promise<string> {
    const { world, random } = host;
    return new Promise((resolve) => {
      world.schedule(random.int(MOST_UNDER_WAY_MS / 2), null, REQUEST, () => {
        const results = this.resultsOf(key);
        const result = `done ${key.slice(0, 8)} ${results.length + 1}`;
        this.#happened.set(key, [...results, result]);
        if (host.isDead) this.#hits.add('feature', 'effect happened after its worker died');
        world.schedule(random.int(MOST_UNDER_WAY_MS / 2), host, REQUEST ^ 1, () => resolve(result));
      });
    });
  }
}
