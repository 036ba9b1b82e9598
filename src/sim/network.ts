import { PawlError } from '../errors.js';
import { hash32 } from '../kernel/index.js';
import type { Random } from '../ports/random.js';
import type { Store } from '../ports/store.js';
import { hitOf, type Fault } from './faults.js';
import type { Hits } from './hits.js';
import type { Host } from './host.js';
import type { Pending } from './pending.js';
import { aimOf, aimOfReply, Strikes } from './strikes.js';
import type { World } from './world.js';

/** What the network asks of those around it. */
export type NetworkParts = {
  readonly world: World;
  readonly hits: Hits;
  /** Executes a call on the shared store, now, and looks at what it did. */
  readonly execute: (call: Call) => Promise<unknown>;
  /** Looks at what a process is told. */
  readonly onReply: (call: Call, reply: unknown) => void;
  /** Crashes a process, and sees to its return. */
  readonly crash: (host: Host, fault: Fault) => void;
  /** Stops a process in good order, and sees to its return. */
  readonly stop: (host: Host, fault: Fault) => void;
  /** Is told what struck which call. */
  readonly onFault: (fault: Fault, call: Call) => void;
};

export type Call = { readonly host: Host; readonly name: keyof Store; readonly asked: readonly unknown[] };
type Settle = { readonly resolve: (reply: unknown) => void; readonly reject: (error: unknown) => void };

/** Calls that may be executed twice, as by a client that sent again what had arrived after all. */
const REPEATABLE: ReadonlySet<string> = new Set<keyof Store>([
  'commit',
  'putEffect',
  'putMessage',
  'settleOutbox',
  'beat',
  'resign',
]);

/** From here on it matters that it is over when the faults are. */
const SLOW_MS = 1_000;

const LABELS = new Map<string, number>();
function labelOf(text: string): number {
  let label = LABELS.get(text);
  if (label === undefined) LABELS.set(text, (label = hash32(text)));
  return label;
}

/** Between the processes and their store: every request, reply and wake-up passes here, and may come to grief. */
export class Network {
  readonly #parts: NetworkParts;
  readonly #random: Random;
  readonly #strikes: Strikes;
  #wakeUpsLostUntil = 0;
  #wakeUpsLateUntil = 0;
  /** Requests and replies that take long. */
  readonly #slow = new Set<Pending>();
  readonly #outages = new Map<Host, number>();
  readonly #listeners = new Map<Host, Set<(lanes: readonly string[]) => void>>();

  constructor(parts: NetworkParts, faults: readonly Fault[]) {
    this.#parts = parts;
    this.#random = parts.world.stream('network');
    this.#strikes = new Strikes(faults);
  }

  /** From now on everything arrives, once and soon. */
  heal(): void {
    this.#strikes.end();
    this.#outages.clear();
    this.#wakeUpsLostUntil = 0;
    this.#wakeUpsLateUntil = 0;
    for (const pending of this.#slow) {
      pending.dropped = true;
      this.#parts.world.schedule(this.#latency(), pending.host, pending.label, pending.run);
    }
    this.#slow.clear();
  }

  /** The store, as a process reaches it. */
  storeFor(host: Host, names: readonly (keyof Store)[]): Store {
    const link = Object.fromEntries(
      names.map((name) => [name, (...asked: unknown[]) => this.#send({ host, name, asked })]),
    );
    return {
      ...link,
      wake: (lanes: readonly string[]) => this.#wake(host, lanes),
      listen: (hear: (lanes: readonly string[]) => void) => this.#listen(host, hear),
      close: async () => undefined,
    } as unknown as Store;
  }

  #send(call: Call): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#travel(call, { resolve, reject }, this.#latency());
    });
  }

  #travel(call: Call, settle: Settle, delayMs: number): void {
    this.#schedule(delayMs, null, labelOf(call.name), () => this.#arrive(call, settle));
  }

  #schedule(delayMs: number, host: Host | null, label: number, run: () => void): void {
    const { world } = this.#parts;
    if (delayMs < SLOW_MS) {
      world.schedule(delayMs, host, label, run);
      return;
    }
    const pending: Pending = world.schedule(delayMs, host, label, () => {
      this.#slow.delete(pending);
      run();
    });
    this.#slow.add(pending);
  }

  #arrive(call: Call, settle: Settle): void {
    const { host, name } = call;
    // A claim is decided on by the process itself, while the store waits for it.
    if (host.isDead && (name === 'claim' || this.#random.int(2) === 0)) return;
    if (host.isPaused && name === 'claim') {
      this.#travel(call, settle, 500);
      return;
    }
    if ((this.#outages.get(host) ?? 0) > this.#parts.world.now) {
      this.#refuse(call, settle);
      return;
    }
    const aim = host.isDead ? null : aimOf(name);
    const fault = aim && this.#strikes.next(aim);
    if (fault !== null && this.#strikesBefore(fault, call, settle)) return;
    this.#execute(call, settle, fault);
  }

  #execute(call: Call, settle: Settle, struck: Fault | null): void {
    const { execute } = this.#parts;
    void execute(call).then(
      (reply) => {
        const aim = call.host.isDead ? null : aimOfReply(call.name, reply);
        const fault = struck ?? (aim && this.#strikes.next(aim));
        const delayMs = fault === null ? this.#latency() : this.#strikesAfter(fault, call, settle);
        if (delayMs === null) return;
        this.#schedule(delayMs, call.host, labelOf(call.name) ^ 1, () => {
          this.#parts.onReply(call, reply);
          settle.resolve(reply);
        });
      },
      (error: unknown) => this.#fail(call, settle, error),
    );
  }

  /** True if the call goes no further for now. */
  #strikesBefore(fault: Fault, call: Call, settle: Settle): boolean {
    const { crash, world, stop } = this.#parts;
    const { host } = call;
    switch (fault.kind) {
      case 'crash before':
        this.#tell(fault, call);
        crash(host, fault);
        return true;
      case 'pause before':
        this.#tell(fault, call);
        host.pause(fault.ms);
        this.#travel(call, settle, fault.same ? fault.ms : 0);
        return true;
      case 'error before':
        this.#tell(fault, call);
        this.#refuse(call, settle);
        return true;
      case 'outage':
        this.#tell(fault, call);
        this.#outages.set(host, world.now + fault.ms);
        this.#refuse(call, settle);
        return true;
      case 'slow request':
        this.#tell(fault, call);
        this.#travel(call, settle, fault.ms);
        return true;
      case 'wake-ups lost':
        this.#tell(fault, call);
        this.#wakeUpsLostUntil = world.now + fault.ms;
        return false;
      case 'wake-ups late':
        this.#tell(fault, call);
        this.#wakeUpsLateUntil = world.now + fault.ms;
        return false;
      case 'clock step':
        this.#tell(fault, call);
        host.skewMs += (fault.same ? -1 : 1) * (fault.ms * 100);
        return false;
      case 'stop':
        this.#tell(fault, call);
        stop(host, fault);
        return false;
      default:
        return false;
    }
  }

  /** How long the reply takes; null if none comes. */
  #strikesAfter(fault: Fault, call: Call, settle: Settle): number | null {
    const { crash, world } = this.#parts;
    const { host } = call;
    switch (fault.kind) {
      case 'crash after':
        this.#tell(fault, call);
        crash(host, fault);
        return null;
      case 'pause after':
        this.#tell(fault, call);
        host.pause(fault.ms);
        return this.#latency();
      case 'error after':
        this.#tell(fault, call);
        this.#refuse(call, settle);
        return null;
      case 'slow reply':
        this.#tell(fault, call);
        return fault.ms;
      case 'twice':
        if (REPEATABLE.has(call.name)) {
          this.#tell(fault, call);
          const again: Settle = { resolve: () => undefined, reject: () => undefined };
          world.schedule(fault.ms, null, labelOf(call.name), () => this.#execute(call, again, null));
        }
        return this.#latency();
      default:
        return this.#latency();
    }
  }

  #tell(fault: Fault, call: Call): void {
    const { hits, world, onFault } = this.#parts;
    const { host, name } = call;
    hits.add('fault', hitOf(fault));
    onFault(fault, call);
    world.tell(() => `FAULT ${fault.kind} (${fault.ms} ms) at '${name}' of ${host.name}`);
  }

  #refuse(call: Call, settle: Settle): void {
    const detail = `the simulated network lost '${call.name}'`;
    this.#fail(call, settle, new PawlError('STORE_UNAVAILABLE', { detail }));
  }

  #fail(call: Call, { reject }: Settle, error: unknown): void {
    this.#parts.world.schedule(this.#latency(), call.host, labelOf(call.name) ^ 2, () => reject(error));
  }

  #wake(from: Host, lanes: readonly string[]): void {
    const { world, hits } = this.#parts;
    for (const [host, listeners] of this.#listeners) {
      if (host.isDead) continue;
      if (world.now < this.#wakeUpsLostUntil && host !== from) {
        hits.add('fault', 'a wake-up lost');
        continue;
      }
      const delayMs = world.now < this.#wakeUpsLateUntil ? this.#random.int(5_000) : this.#latency();
      world.schedule(delayMs, host, WAKE, () => {
        for (const hear of listeners) hear(lanes);
      });
    }
  }

  #listen(host: Host, hear: (lanes: readonly string[]) => void): () => Promise<void> {
    const listeners = this.#listeners.get(host) ?? new Set();
    this.#listeners.set(host, listeners.add(hear));
    return async () => {
      listeners.delete(hear);
    };
  }

  /** Mostly next to nothing; now and then long enough for others to overtake. */
  #latency(): number {
    const drawn = this.#random.int(64);
    return drawn < 48 ? drawn & 1 : drawn < 62 ? drawn & 7 : 40 * (drawn & 15);
  }
}

const WAKE = hash32('wake-up');
