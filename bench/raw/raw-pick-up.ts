import { utimesSync, watch } from 'node:fs';
import pg from 'pg';
import type { Started } from '../harness/start-elsewhere.js';
import type { System } from '../workloads/system.js';
import { RAW } from './raw-database.js';
import { claim } from './raw-postgres.js';
import { rawSqlite } from './raw-sqlite.js';

const CHANNEL = 'work';
/** So many are looked for at a time. */
const BATCH = 10;
const LINK = 'link';

/** The starting side: the time is the job's id. */
type Starter = Pick<System, 'start' | 'close'>;

/** Milliseconds from before each insert to the claimed job. `look` claims what is there; `listen` has it called whenever something was told. */
async function timesOf(
  look: () => Promise<readonly string[]>,
  listen: (heard: () => void) => Promise<unknown>,
  start: () => Promise<Started>,
): Promise<number[]> {
  const times: number[] = [];
  let started = Number.POSITIVE_INFINITY;
  await new Promise<void>((resolve, reject) => {
    const take = async (): Promise<void> => {
      for (const id of await look()) times.push(Number(process.hrtime.bigint() - BigInt(id)) / 1e6);
      if (times.length >= started) resolve();
    };
    listen(() => void take().catch(reject))
      .then(start)
      .then(({ ended }) => ended)
      .then((count) => {
        started = count;
        return take();
      })
      .catch(reject);
  });
  return times;
}

/** Insert and NOTIFY in one process, LISTEN and claim in another. */
export async function rawPickUpOnPostgres(url: string, start: () => Promise<Started>): Promise<number[]> {
  const [ear, hand] = [new pg.Client({ connectionString: url }), new pg.Client({ connectionString: url })];
  await Promise.all([ear.connect(), hand.connect()]);
  const listen = (heard: () => void): Promise<unknown> => {
    ear.on('notification', heard);
    return ear.query(`LISTEN ${CHANNEL}`);
  };
  const times = await timesOf(() => claim(hand, BATCH, LINK), listen, start);
  await Promise.all([ear.end(), hand.end()]);
  return times;
}

/** Insert and touch a file in one process, watch it and claim in another. */
export async function rawPickUpOnSqlite(path: string, start: () => Promise<Started>): Promise<number[]> {
  const db = await rawSqlite(path);
  const stop = new AbortController();
  const look = async (): Promise<string[]> => db.claim(BATCH, LINK).map(({ jobId }) => jobId);
  const listen = async (heard: () => void): Promise<void> => {
    watch(sharedBy(path), { signal: stop.signal }, heard);
  };
  const times = await timesOf(look, listen, start);
  stop.abort();
  await db.close();
  return times;
}

export const rawStarter = (url: string): Promise<Starter> =>
  url.startsWith('sqlite:') ? starterOnSqlite(url.slice(7)) : starterOnPostgres(url);

async function starterOnPostgres(url: string): Promise<Starter> {
  const db = new pg.Client({ connectionString: url });
  await db.connect();
  const text = `WITH job AS (INSERT INTO jobs (job_id, lane, tenant_id, priority, due_at, state, first_command, first_body, first_link)
      VALUES ($1, $2, 'acme', 0, $3, '{}', $1, $4, '${LINK}') RETURNING job_id),
    listed AS (INSERT INTO created (job_ids) SELECT ARRAY[job_id] FROM job)
    SELECT pg_notify('${CHANNEL}', '')`;
  return {
    start: (_kind, input) =>
      db.query({ name: 'start', text, values: [input, RAW.lane, Date.now(), RAW.claim] }),
    close: () => db.end(),
  };
}

async function starterOnSqlite(path: string): Promise<Starter> {
  const db = await rawSqlite(path);
  return {
    async start(_kind, input) {
      await db.create([{ jobId: input, commandId: input, body: RAW.claim, link: LINK }], 1);
      utimesSync(sharedBy(path), new Date(), new Date());
    },
    close: () => db.close(),
  };
}

/** SQLite's index of its log, which lies there as long as somebody has the database open. */
const sharedBy = (path: string): string => `${path}-shm`;
