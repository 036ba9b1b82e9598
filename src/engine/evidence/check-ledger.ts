import {
  canonicalJson,
  effectKeyText,
  ERASED_PREFIX,
  originOf,
  stepKey,
  type Event,
  type EventOf,
  type JsonText,
} from '../../kernel/index.js';
import type { EffectResult } from '../../ports/store.js';
import { chainHash, sha256 } from '../sha256.js';

export type LedgerRow = Omit<EffectResult, 'jobId'>;

/**
 * Holds the results that were stored for effects against the events that speak of them. Of results it keeps digests
 * only. A result that came late, for an entry that was closed or never recorded, is no contradiction.
 */
export class LedgerCheck {
  /** Whose id is in the keys. */
  #origin: string;
  readonly #intended = new Set<string>();
  /** Digests of the results in the log that the ledger has not shown yet. */
  readonly #recorded = new Map<string, string>();

  constructor(jobId: string) {
    this.#origin = jobId;
  }

  event(event: Event): string | null {
    switch (event.type) {
      case 'job.created':
        this.#origin = originOf(event.spec);
        return null;
      case 'effect.intended':
        this.#intended.add(nameOf(event));
        return this.#checkKey(event);
      case 'effect.recorded':
        this.#recorded.set(nameOf(event), digestOf(event.result));
        return this.#expectIntent(event);
      case 'effect.closed':
      case 'effect.unknown':
      case 'effect.reconciled':
        return this.#expectIntent(event);
      default:
        return null;
    }
  }

  row(row: LedgerRow): string | null {
    const name = nameOf(row);
    if (!this.#intended.has(name)) return `the ledger has ${name}, which no event intended`;
    const recorded = this.#recorded.get(name);
    if (recorded === undefined || row.result === null) return null;
    this.#recorded.delete(name);
    return digestOf(row.result) === recorded
      ? null
      : `the ledger's result of ${name} is not the one that the log records`;
  }

  /** After the last row of the ledger. */
  missing(): string | null {
    const [name] = this.#recorded.keys();
    return name === undefined ? null : `the log records a result of ${name} that the ledger does not have`;
  }

  #expectIntent(event: LedgerRowRef): string | null {
    const name = nameOf(event);
    return this.#intended.has(name) ? null : `it speaks of ${name}, which was never intended`;
  }

  /** The key is what receivers outside know the effect by. */
  #checkKey(event: EventOf<'effect.intended'>): string | null {
    if (event.input.startsWith(ERASED_PREFIX)) return null;
    const args = canonical(event.input);
    if (args === null) return `the input of ${nameOf(event)} is not JSON`;
    const text = effectKeyText({ jobId: this.#origin, stepKey: stepKey(event), tool: event.tool, args });
    return sha256(text) === event.effectKey ? null : `the key of ${nameOf(event)} is not that of its input`;
  }
}

type LedgerRowRef = Omit<LedgerRow, 'result'>;

function nameOf({ step, occurrence, entry }: LedgerRowRef): string {
  return `${step}#${occurrence}, entry ${entry}`;
}

/** A payload that was erased left its digest. */
function digestOf(result: JsonText): string {
  return result.startsWith(ERASED_PREFIX) ? result.slice(ERASED_PREFIX.length) : chainHash(result);
}

function canonical(text: JsonText): JsonText | null {
  try {
    return canonicalJson(text);
  } catch {
    return null;
  }
}
