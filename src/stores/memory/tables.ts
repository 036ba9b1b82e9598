import type { DlqItem, JobRow, JsonText, WorkerLease } from '../../kernel/index.js';
import type { EffectResult, Identity, Loaded, LogRow, Message } from '../../ports/store.js';
import { assemble } from '../job-state.js';

/** A job as it is kept: text and plain rows, nothing that a caller still holds a reference to. */
export type Kept = {
  row: JobRow;
  state: JsonText;
  inboxRev: number;
  readonly log: LogRow[];
  readonly inbox: Map<string, Message & { consumed: boolean }>;
  readonly effects: Map<string, EffectResult>;
};

/** Everything that the store holds. */
export class Tables {
  readonly jobs = new Map<string, Kept>();
  readonly feed: LogRow[] = [];
  readonly dlq: DlqItem[] = [];
  readonly leases = new Map<string, WorkerLease>();
  readonly #identities = new Map<string, string>();

  ownerOf(identity: Identity): string | null {
    return this.#identities.get(keyOf(identity)) ?? null;
  }

  own(identity: Identity, jobId: string): void {
    this.#identities.set(keyOf(identity), jobId);
  }
}

/** The first row of its log, the one that its state stands for, and whatever came after. */
export function loadKept({ state, inboxRev, log, row }: Kept): Loaded {
  return assemble({ state, inboxRev, rows: [...log.slice(0, 1), ...log.slice(Math.max(1, row.rev - 1))] });
}

export function byText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

function keyOf({ tenantId, kind, value }: Identity): string {
  return JSON.stringify([tenantId, kind, value]);
}
