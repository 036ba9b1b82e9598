import { taskGateOf } from '../kernel/index.js';
import type { ClaimLane } from '../ports/store.js';

/** What a store knows about one tenant at the moment of a claim. */
export interface TenantUse {
  /** How many jobs of a gate run. */
  running(gate: string): number;
  /** How many jobs of a task run, whatever their key. */
  runningOf(taskGate: string): number;
  /** How many jobs of a lane may still be claimed under its rate. */
  rateRoom(lane: string): number;
}

/**
 * What one claim may take of one tenant's jobs: no more than every limit on them has room for. Each limit is asked about
 * once, and only if a lane has it.
 */
export class TenantRoom {
  readonly #use: TenantUse;
  readonly #running = new Map<string, number>();
  readonly #taken = new Map<string, number>();
  readonly #rates = new Map<string, { left: number }>();

  constructor(use: TenantUse) {
    this.#use = use;
  }

  /** For a lane as a whole. 0: none of its jobs need be looked at. */
  ofLane(lane: ClaimLane): number {
    return this.#rate(lane)?.left ?? Number.POSITIVE_INFINITY;
  }

  /** For all gates of a lane together. 0: none of them need be looked at. */
  ofGates(lane: ClaimLane): number {
    return Math.min(this.ofLane(lane), this.#inTask(lane));
  }

  /** For one gate of a lane, '' being the jobs that no limit on running ones counts. */
  of(lane: ClaimLane, gate: string): number {
    return gate === '' ? this.ofLane(lane) : Math.min(this.ofGates(lane), this.#inGate(lane, gate));
  }

  /** Takes one job; false if there is no room left for it. */
  take(lane: ClaimLane, gate: string): boolean {
    if (this.of(lane, gate) < 1) return false;
    if (gate !== '') {
      count(this.#taken, gate);
      count(this.#taken, everyGate(lane));
    }
    const rate = this.#rate(lane);
    if (rate) rate.left -= 1;
    return true;
  }

  #inGate({ lane, keyLimit }: ClaimLane, gate: string): number {
    if (keyLimit === null || gate === taskGateOf(lane)) return Number.POSITIVE_INFINITY;
    const running = known(this.#running, gate, () => this.#use.running(gate));
    return keyLimit - running - (this.#taken.get(gate) ?? 0);
  }

  #inTask(lane: ClaimLane): number {
    const { tenantLimit = null } = lane;
    if (tenantLimit === null) return Number.POSITIVE_INFINITY;
    const name = everyGate(lane);
    const running = known(this.#running, name, () => this.#use.runningOf(taskGateOf(lane.lane)));
    return tenantLimit - running - (this.#taken.get(name) ?? 0);
  }

  /** Lanes of one task share it. */
  #rate({ lane, rate }: ClaimLane): { left: number } | null {
    if (!rate) return null;
    const found = this.#rates.get(rate.name) ?? { left: this.#use.rateRoom(lane) };
    this.#rates.set(rate.name, found);
    return found;
  }
}

/** All gates of a task, under a name that no gate has. */
function everyGate({ lane }: ClaimLane): string {
  return `${taskGateOf(lane)}\u0000`;
}

function known(counts: Map<string, number>, name: string, ask: () => number): number {
  const running = counts.get(name) ?? ask();
  counts.set(name, running);
  return running;
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
