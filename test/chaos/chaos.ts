import { join } from 'node:path';
import { prng } from '../../src/testkit/prng.js';
import { Hits } from '../../src/sim/hits.js';
import { Verdict, type Breach } from '../../src/sim/verdict.js';
import { Actor } from './actors.js';
import { checkAll, type Found } from './check-all.js';
import type { OutsideCounts } from './check-outside.js';
import { checkStruck } from './check-struck.js';
import { checkLeases } from './check-whole.js';
import { drain } from './drain.js';
import { openGround, type Ground, type StoreKind } from './ground.js';
import { HttpClient } from './http-client.js';
import { LimitsWatch } from './limits-watch.js';
import { Load } from './load.js';
import { Monkey } from './monkey.js';

export type ChaosOptions = {
  readonly store: StoreKind;
  readonly minutes: number;
  readonly workers: number;
  readonly kills: number;
  readonly seed: number;
  /** Jobs that clients ask for, in a second. */
  readonly perSecond: number;
  /** Where the compiled repository lies: its command line is what runs. */
  readonly build: string;
  readonly print: (line: string) => void;
};

export type ChaosResult = {
  readonly store: StoreKind;
  /** Of the database, with its name. */
  readonly version: string;
  readonly seed: number;
  readonly workers: number;
  readonly seconds: number;
  readonly breaches: readonly Breach[];
  readonly jobs: number;
  readonly acknowledged: Readonly<Record<'starts' | 'signals' | 'cancels' | 'requeues', number>>;
  readonly httpRetries: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly hits: Readonly<Record<string, number>>;
  readonly outside: OutsideCounts;
  readonly limits: { readonly looks: number; readonly full: number };
  /** Where its files are, if anything is wrong. */
  readonly kept: string | null;
};

const LEASE_MS = 3_000;
const CLIENTS = 8;
const STOP_WITHIN_MS = 30_000;
const TELL_EVERY_MS = 10_000;
/** Of a process that cannot reach its store when it begins. */
const NO_STORE = 75;

/** Real processes on a real store, under load, killed and frozen at random; then everything that must hold is checked. */
export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const { store: kind, minutes, kills, seed, print } = options;
  const startedAt = performance.now();
  const ground = await openGround(kind);
  const version = await ground.version();
  const verdict = new Verdict({ decisions: () => 0, onBreach: () => undefined });
  const cast = castOf(options, ground);
  const client = new HttpClient(`http://127.0.0.1:${ground.port}`);
  const load = new Load(client, { random: prng(seed), prefix: `chaos-${seed}` });
  const monkey = new Monkey(cast, { random: prng(seed + 1), restart: ground.restart });
  const watch = new LimitsWatch(ground.store);
  const seconds = () => Math.round((performance.now() - startedAt) / 1_000);
  const tell = (what: string) => print(`${String(seconds()).padStart(5)} s  ${kind}: ${what}`);
  const telling = setInterval(
    () =>
      tell(
        `${load.asked} starts asked for, ${load.acknowledged.starts.size} acknowledged, ${told(monkey.done)}`,
      ),
    TELL_EVERY_MS,
  );
  const hits = new Hits();
  let found: Found | null = null;
  try {
    const supervised = monkey.supervise();
    await load.openSchedule();
    const watching = watch.run();
    const loading = load.run({ clients: CLIENTS, perSecond: options.perSecond });
    const restarts = ground.restart === null ? 0 : Math.max(1, Math.round(minutes));
    const harm = { minutes, kills, freezes: Math.ceil(kills / 5), restarts, leaseMs: LEASE_MS };
    await monkey.run(harm);
    load.stop();
    await monkey.heal();
    await loading;
    await load.closeSchedule();
    tell('healed; the rest is let to end');
    const stuck = await drain({ ...ground, client, load });
    for (const job of stuck) verdict.breach(23, `${job}, and nothing moves it`);
    await checkLeases({ store: ground.store, verdict, leaseMs: LEASE_MS });
    watch.stop();
    monkey.stop();
    await Promise.all([watching, supervised]);
    await stopAll(cast, verdict);
    tell('at rest; checking');
    for (const problem of watch.problems) verdict.breach(11, problem);
    const ends = [...cast.workers, cast.server].flatMap((actor) => actor.ends);
    found = await checkAll({ ground, acknowledged: load.acknowledged, ends, hits, verdict });
    const { done } = monkey;
    const starts = load.acknowledged.starts.size;
    checkStruck({ harm, done, starts, hits: hits.all, full: watch.full }, verdict);
  } finally {
    clearInterval(telling);
    client.giveUp();
    monkey.stop();
    await Promise.all([...cast.workers, cast.server].map((actor) => actor.kill()));
    // Broken off counts as broken: what there is to look at stays.
    await ground.close(found === null || verdict.breaches.length > 0);
  }
  const { starts, signals, cancels, requeues } = load.acknowledged;
  return {
    store: kind,
    version,
    seed,
    workers: options.workers,
    seconds: seconds(),
    breaches: verdict.breaches,
    jobs: found.jobs,
    acknowledged: {
      starts: starts.size,
      signals: signals.length,
      cancels: cancels.size,
      requeues: requeues.size,
    },
    httpRetries: client.retries,
    faults: monkey.done,
    hits: hits.all,
    outside: found.outside,
    limits: { looks: watch.looks, full: watch.full },
    kept: verdict.breaches.length > 0 ? ground.folder : null,
  };
}

type Cast = { readonly workers: readonly Actor[]; readonly server: Actor };

/** `pawl worker` and `pawl server`, as anybody runs them. Every other worker keeps its name across restarts. */
function castOf({ build, workers }: ChaosOptions, { url, folder, outsideFolder, port }: Ground): Cast {
  const main = join(build, 'src/cli/main.js');
  const tasks = join(build, 'test/chaos/chaos-tasks.js');
  const env = { PAWL_CHAOS_OUTSIDE: outsideFolder };
  const actor = (name: string, args: readonly string[]) => new Actor({ name, main, args, folder, env });
  const lease = ['--lease', `${LEASE_MS}ms`, '--concurrency', '10', '--drain', '2s'];
  return {
    workers: Array.from({ length: workers }, (_, index) =>
      actor(`worker-${index}`, [
        'worker',
        tasks,
        '--store',
        url,
        ...lease,
        ...(index % 2 === 0 ? ['--worker-id', `chaos-${index}`] : []),
      ]),
    ),
    server: actor('server', ['server', tasks, '--store', url, '--port', `${port}`]),
  };
}

/** Whoever is told to end does so in time, and in peace. */
async function stopAll({ workers, server }: Cast, verdict: Verdict): Promise<void> {
  const all = [...workers, server];
  const codes = await Promise.all(all.map((actor) => actor.stop(STOP_WITHIN_MS)));
  for (const [index, code] of codes.entries())
    verdict.expect(code === 0, 27, () => `${all[index]?.name} was told to stop, and ended with ${code}`);
  for (const { name, surprises } of all)
    for (const { code, what } of surprises)
      verdict.expect(code === NO_STORE, 23, () => `${what}; see ${name}.log`);
}

function told(done: Readonly<Record<string, number>>): string {
  return Object.entries(done)
    .map(([what, count]) => `${count} × ${what}`)
    .join(', ');
}
