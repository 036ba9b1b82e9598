import { hash32 } from '../kernel/index.js';
import type { Store } from '../ports/store.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import { Tables } from '../stores/memory/tables.js';
import { Acknowledged } from './check/acknowledged.js';
import { checkAtEnd } from './check/at-end.js';
import { LateResults } from './check/late-results.js';
import { StoreWatch } from './check/store-watch.js';
import type { Fault } from './faults.js';
import { Hits } from './hits.js';
import { Machines } from './machines.js';
import { Network, type Call } from './network.js';
import { careFor } from './workload/caretaker.js';
import { Outside } from './workload/outside.js';
import { operate, type OperateParts } from './workload/operate.js';
import type { Operation, Plan } from './plan.js';
import { Verdict, type Breach } from './verdict.js';
import { World } from './world.js';

export type Outcome = {
  readonly seed: number;
  readonly breaches: readonly Breach[];
  readonly decisions: number;
  readonly traceHash: string;
  readonly hits: Readonly<Record<string, number>>;
};

const OPERATION = hash32('operation');
const HEAL = hash32('heal');
/** Faults may strike for so long after the last operation. */
const UNREST_MS = 15_000;
/** Longer than every sleep, lease, deadline and backoff: if no attempt ends for so long, what there is never will. */
const PATIENCE_MS = 1_800_000;
/** Leases of processes that are gone must have been ended by others by then. */
const SETTLE_LEASES = 3;

/** `tell`: gets the story of the run, line by line. `onFault`: is told what struck which call. */
export type Telling = {
  readonly tell?: ((line: string) => void) | null;
  readonly onFault?: (fault: Fault, call: Call) => void;
};

/** Runs one plan: under faults first, then without, until all is at rest; and says what was wrong. */
export async function simulate(
  plan: Plan,
  { tell = null, onFault = () => undefined }: Telling = {},
): Promise<Outcome> {
  const world = new World(plan.seed, tell);
  const tables = new Tables();
  const store = memoryStore({ clock: { now: () => world.now }, tables });
  const hits = new Hits();
  const verdict = new Verdict({ decisions: () => world.decisions, onBreach: () => world.end() });
  const watch = new StoreWatch({ world, tables, hits, verdict, now: () => world.now, keepMs: plan.keepMs });
  const acknowledged = new Acknowledged(watch, verdict);
  const outside = new Outside(hits, watch.effects);
  const late = new LateResults(watch, verdict);
  const network: Network = new Network(
    {
      world,
      hits,
      execute: (call) => {
        const reply = (store[call.name] as (...asked: unknown[]) => Promise<unknown>)(...call.asked);
        watch.look(call);
        late.look(call);
        return reply;
      },
      onReply: (call, reply) => {
        acknowledged.told(call, reply);
        if (call.name === 'beat' && healedAt !== null) machines.checkHandlers(hasEndedLongAgo);
      },
      crash: (host, fault) => machines.crash(host, fault),
      stop: (host, fault) => machines.stop(host, fault),
      onFault,
    },
    plan.faults,
  );
  let healedAt: number | null = null;
  /** Long enough ago for two heartbeats to have told its holder. */
  const hasEndedLongAgo = (jobId: string): boolean => {
    const finishedAt = watch.jobOf(jobId)?.finishedAt ?? null;
    return finishedAt !== null && Math.max(finishedAt, healedAt ?? 0) < world.now - plan.leaseMs;
  };
  const names = Object.keys(store) as (keyof Store)[];
  const machines: Machines = new Machines(plan, {
    world,
    hits,
    outside,
    verdict,
    onLateResult: late.reported,
    storeFor: (host) => network.storeFor(host, names),
  });
  const parts: OperateParts = { hits, watch, outside, acknowledged };

  for (const operation of plan.operations) {
    world.schedule(operation.atMs, null, OPERATION, () => perform(machines, parts, operation));
  }
  machines.start();
  const lastAt = Math.max(0, ...plan.operations.map(({ atMs }) => atMs));
  world.schedule(lastAt + UNREST_MS, null, HEAL, () => {
    healedAt = world.now;
    world.tell(() => 'the faults are over');
    network.heal();
    machines.heal();
    careFor(world, () => machines.client(0), parts);
  });
  let restAt: number | null = null;
  const isOver = (): boolean => {
    if (healedAt === null) return false;
    const isBusy = watch.live.size > 0 || hasMail(tables) || !machines.areUp;
    if (isBusy) restAt = null;
    else restAt ??= world.now;
    if (restAt !== null) return world.now >= restAt + plan.leaseMs * SETTLE_LEASES;
    return world.now > Math.max(healedAt, watch.endedAt) + PATIENCE_MS;
  };
  await world.run(isOver);
  if (verdict.breaches.length === 0) {
    reportStuck(watch, verdict);
    machines.checkHandlers(hasEndedLongAgo);
    machines.checkWorkers((host) =>
      [...tables.leases].some(([incarnation, { dead }]) => !dead && watch.hostOf(incarnation) === host),
    );
    await checkAtEnd({ store, watch, verdict, now: world.now, leaseMs: plan.leaseMs });
    watch.effects.check(
      (key) => outside.resultsOf(key),
      (jobId) => watch.jobs.get(jobId)?.steps,
    );
    acknowledged.check();
    late.check();
  }
  if (verdict.breaches.length === 0) await machines.close();
  for (const { log } of tables.jobs.values()) for (const { link } of log) world.note(hash32(link));
  return {
    seed: plan.seed,
    breaches: verdict.breaches,
    decisions: world.decisions,
    traceHash: world.traceHash,
    hits: hits.all,
  };
}

/** A client that is down at that time does not do it. */
function perform(machines: Machines, parts: OperateParts, operation: Operation): void {
  const client = machines.client(operation.client);
  client?.host.world.tell(() => `${client.host.name} does ${operation.do}`);
  client?.host.enter(() => operate(parts, client, operation));
}

function hasMail({ outbox }: Tables): boolean {
  for (const { kind } of outbox.values()) if (kind === 'child') return true;
  return false;
}

function reportStuck({ live, jobs }: StoreWatch, verdict: Verdict): void {
  for (const jobId of live) {
    const job = jobs.get(jobId)?.job;
    const waits = job?.waits.map(({ key }) => key).join() ?? '';
    verdict.breach(23, `${jobId} (${job?.spec.task}) is ${job?.status} ${waits}, and nothing moves it`);
  }
}
