import { PawlError } from '../errors.js';
import { pawl, type Pawl } from '../client/pawl.js';
import { hash32 } from '../kernel/index.js';
import type { Logger } from '../ports/logger.js';
import type { Store } from '../ports/store.js';
import type { Fault } from './faults.js';
import type { Hits } from './hits.js';
import { Host } from './host.js';
import type { Plan, WorkerPlan } from './plan.js';
import type { Verdict } from './verdict.js';
import type { RunningHandler } from './workload/handle.js';
import type { Client } from './workload/operate.js';
import type { Outside } from './workload/outside.js';
import { simTasks } from './workload/tasks.js';
import type { World } from './world.js';

const BOOT = hash32('boot');
/** How soon a process that could not start is started again. */
const RETRY_BOOT_MS = 1_000;

type Slot = {
  readonly name: string;
  /** Null: it only asks. */
  readonly worker: WorkerPlan | null;
  host: Host;
  app: Pawl | null;
  tasks: Client['tasks'] | null;
  lives: number;
};

export type MachineParts = {
  readonly world: World;
  readonly hits: Hits;
  readonly outside: Outside;
  readonly verdict: Verdict;
  readonly onLateResult: (
    host: Host,
    late: { jobId: string; step: string; occurrence: number; entry: number },
  ) => void;
  readonly storeFor: (host: Host) => Store;
};

/** The processes: each a real application over its own way to the store, that can be killed, stopped and started. */
export class Machines {
  readonly #plan: Plan;
  readonly #parts: MachineParts;
  readonly #slots: Slot[] = [];
  readonly #running = new Set<RunningHandler>();
  readonly hosts: Host[] = [];
  #healed = false;

  constructor(plan: Plan, parts: MachineParts) {
    this.#plan = plan;
    this.#parts = parts;
  }

  start(): void {
    for (const [index, worker] of this.#plan.workers.entries()) this.#add(`worker ${index}`, worker);
    for (let index = 0; index < this.#plan.clients; index++) this.#add(`client ${index}`, null);
  }

  /** Everybody is up and able to work. */
  get areUp(): boolean {
    return this.#slots.every(({ app, host }) => app !== null && !host.isDead && !host.isPaused);
  }

  client(index: number): Client | null {
    const slot = this.#slots.filter(({ worker }) => worker === null)[index];
    if (!slot || slot.app === null || slot.tasks === null || slot.host.isDead) return null;
    return { host: slot.host, app: slot.app, tasks: slot.tasks };
  }

  crash(host: Host, fault: Fault): void {
    const slot = this.#slotOf(host);
    host.crash();
    if (slot === null) return;
    slot.app = null;
    this.#boot(slot, { delayMs: fault.ms, same: fault.same });
  }

  /** In good order: it drains, hands back what does not end, and lets go. */
  stop(host: Host, fault: Fault): void {
    const slot = this.#slotOf(host);
    const app = slot?.app ?? null;
    if (slot === null || app === null || slot.worker === null) return;
    slot.app = null;
    host.enter(async () => {
      await app.close();
      this.#parts.verdict.expect(
        host.timers === 0,
        27,
        () => `${host.name} has ${host.timers} timers left after it was closed`,
      );
      host.crash();
      this.#boot(slot, { delayMs: fault.ms, same: fault.same });
    });
  }

  /** Whoever stands still goes on. Those that are down are on their way back. */
  heal(): void {
    this.#healed = true;
    for (const { host } of this.#slots) if (host.isPaused) host.resume();
  }

  /** Handlers of jobs that have ended were told so, or have returned. */
  checkHandlers(hasEnded: (jobId: string) => boolean): void {
    for (const { host, jobId, isAborted } of this.#running) {
      if (host.isDead || isAborted()) continue;
      this.#parts.verdict.expect(
        !hasEnded(jobId),
        14,
        () => `a handler of ${jobId} still runs on ${host.name}, and was not told to stop`,
      );
    }
  }

  /** Workers that run can work: one that holds no lease long after the last fault never will again. */
  checkWorkers(holdsLease: (host: Host) => boolean): void {
    for (const { app, host, worker } of this.#slots) {
      if (app === null || host.isDead || worker === null) continue;
      this.#parts.verdict.expect(holdsLease(host), 23, () => `${host.name} runs, and holds no lease`);
    }
  }

  /** Closes all of them, and looks at what they leave behind. */
  async close(): Promise<void> {
    const { world, verdict } = this.#parts;
    let open = 0;
    for (const { app, host } of this.#slots) {
      if (app === null || host.isDead) continue;
      open += 1;
      host.enter(async () => {
        await app.close();
        open -= 1;
      });
    }
    const until = world.now + 60_000;
    await world.run(() => open === 0 || world.now > until);
    verdict.expect(open === 0, 27, () => `${open} processes do not close`);
    for (const { host } of this.#slots) {
      if (!host.isDead)
        verdict.expect(
          host.timers === 0,
          27,
          () => `${host.name} has ${host.timers} timers left after it was closed`,
        );
    }
  }

  #add(name: string, worker: WorkerPlan | null): void {
    const slot: Slot = { name, worker, host: this.#newHost(name), app: null, tasks: null, lives: 0 };
    this.#slots.push(slot);
    this.#boot(slot, { delayMs: 0, same: true });
  }

  #newHost(name: string): Host {
    const host = new Host(this.#parts.world, {
      index: this.hosts.length,
      name: `${name}.${this.hosts.length}`,
    });
    this.hosts.push(host);
    return host;
  }

  #slotOf(host: Host): Slot | null {
    return this.#slots.find((slot) => slot.host === host) ?? null;
  }

  #boot(slot: Slot, { delayMs, same }: { delayMs: number; same: boolean }): void {
    const { world, hits } = this.#parts;
    world.schedule(this.#healed ? Math.min(delayMs, RETRY_BOOT_MS) : delayMs, null, BOOT, () => {
      if (slot.lives > 0)
        hits.add('feature', slot.worker?.named && same ? 'restart under the same name' : 'restart');
      if (slot.lives > 0) slot.host = this.#newHost(slot.name);
      slot.lives += 1;
      const { host } = slot;
      world.tell(() => `${host.name} starts`);
      host.skewMs = slot.worker?.skewMs ?? 0;
      host.enter(() => this.#open(slot, host, same));
    });
  }

  async #open(slot: Slot, host: Host, same: boolean): Promise<void> {
    const { outside, hits, verdict, storeFor, onLateResult } = this.#parts;
    const { leaseMs, pollMs, keepMs } = this.#plan;
    const tools = {
      host,
      hits,
      onDiffers: (problem: string) => verdict.breach(7, problem),
      onStart: (running: RunningHandler) => {
        this.#running.add(running);
        return () => this.#running.delete(running);
      },
    };
    const tasks = simTasks(tools, outside);
    try {
      const app = await pawl({
        store: storeFor(host),
        tasks: Object.values(tasks),
        clock: host.clock,
        random: host.random,
        log: loggerOf(verdict),
        alerts: false,
        courier: NO_COURIER,
        hooks: { lateResult: (late) => onLateResult(host, late) },
        ...(keepMs === null ? {} : { retention: { keep: keepMs } }),
      });
      if (slot.worker !== null) {
        const { named, concurrency } = slot.worker;
        const workerId = named
          ? { workerId: same ? slot.name.replace(' ', '-') : host.name.replace(' ', '-') }
          : {};
        await app.work({
          concurrency,
          lease: leaseMs,
          poll: pollMs,
          drain: 1_000,
          stopOnSignal: false,
          ...workerId,
        });
      }
      slot.app = app;
      slot.tasks = tasks;
    } catch (error) {
      if (!(error instanceof PawlError)) throw error;
      host.crash();
      this.#boot(slot, { delayMs: RETRY_BOOT_MS, same });
    }
  }
}

const NO_COURIER = {
  check: async () => undefined,
  deliver: () => Promise.reject(new Error('nobody is called')),
};

/** What goes wrong in a way that nobody foresaw is a breach; the rest is news. */
function loggerOf({ breach }: Verdict): Logger {
  const silent = (): void => undefined;
  return {
    debug: silent,
    info: silent,
    warn: silent,
    error: (message, fields = {}) => {
      const { error } = fields;
      if (error instanceof Error && !(error instanceof PawlError))
        breach(23, `${message}: ${error.stack ?? error.message}`);
    },
  };
}
