import { Meter } from '../harness/meter.js';
import { median, quantile, secondsOf } from '../harness/statistics.js';
import { startElsewhere } from '../harness/start-elsewhere.js';
import { creates } from '../store/workload.js';
import type { Figures, Ground, Measures } from '../workloads/workload.js';
import type { RawDatabase } from './raw-database.js';
import { rawPickUpOnPostgres, rawPickUpOnSqlite } from './raw-pick-up.js';
import { rawPostgres } from './raw-postgres.js';
import { rawSqlite } from './raw-sqlite.js';

/** A hundred callers at once are one batch of a hundred; a worker claims as many as it runs at once. */
const BATCH = { 'single-starts': 100, 'bulk-starts': 1_000, drain: 500, 'five-steps': 200 } as const;

const NAMES = {
  'single-starts': 'starts/s',
  'bulk-starts': 'bulk starts/s',
  drain: 'jobs/s',
  'five-steps': '5-step jobs/s',
} as const;

/** The workloads as the database alone would do them. */
export function rawMeasures(store: 'sqlite' | 'postgres'): Measures {
  const open = (url: string): Promise<RawDatabase> =>
    store === 'sqlite' ? rawSqlite(url.slice(7)) : rawPostgres(url);
  const starts = (kind: 'single-starts' | 'bulk-starts') => (ground: Ground) =>
    using(open, ground, kind, (db, items) => db.create(items, BATCH[kind]));
  const drains = (kind: 'drain' | 'five-steps') => (ground: Ground) =>
    using(open, ground, kind, async (db, items) => {
      const link = items[0]?.link ?? '';
      await db.finish(items.length, { batch: BATCH[kind], steps: kind === 'drain' ? 0 : 5, link });
    });
  return {
    'single-starts': starts('single-starts'),
    'bulk-starts': starts('bulk-starts'),
    drain: drains('drain'),
    'five-steps': drains('five-steps'),
    step: async ({ urls: [url], size }) => {
      const db = await open(url);
      const items = creates(1);
      await db.create(items, 1);
      const times = await db.steps(size, items[0]?.link ?? '');
      await db.close();
      return {
        'ms/step': times.reduce((sum, ms) => sum + ms, 0) / times.length,
        'ms/step p50': median(times),
      };
    },
    'pick-up': async ({ urls: [url], size, warmUpMs }) => {
      await (await open(url)).close();
      const start = () => startElsewhere({ subject: `raw ${store}`, url, count: size, warmUpMs });
      const all =
        store === 'sqlite'
          ? await rawPickUpOnSqlite(url.slice(7), start)
          : await rawPickUpOnPostgres(url, start);
      const times = all.slice(-size);
      return { 'p50 ms': quantile(times, 0.5), 'p99 ms': quantile(times, 0.99) };
    },
  };
}

async function using(
  open: (url: string) => Promise<RawDatabase>,
  { urls: [url, other], size }: Ground,
  kind: keyof typeof NAMES,
  run: (db: RawDatabase, items: ReturnType<typeof creates>) => Promise<void>,
): Promise<Figures> {
  const prepared = async (at: string, count: number) => {
    const db = await open(at);
    const items = creates(count);
    if (kind === 'drain' || kind === 'five-steps') await db.create(items, BATCH['bulk-starts']);
    return { db, items };
  };
  const warm = await prepared(other, Math.ceil(size / 10));
  await run(warm.db, warm.items);
  await warm.db.close();
  const { db, items } = await prepared(url, size);
  const meter = await Meter.open(url);
  const seconds = await secondsOf(() => run(db, items));
  const spent = await meter.perJob(size);
  await db.close();
  return { [NAMES[kind]]: size / seconds, ...spent };
}
