import pg from 'pg';
import type { System } from '../workloads/system.js';
import { RAW } from './raw-database.js';
import { claim } from './raw-postgres.js';

const CHANNEL = 'work';

/** Insert and NOTIFY in one process, LISTEN and claim in another. Milliseconds from before the insert to the claimed job. */
export async function rawPickUp(
  url: string,
  start: () => Promise<{ ended: Promise<number> }>,
): Promise<number[]> {
  const [ear, hand] = [new pg.Client({ connectionString: url }), new pg.Client({ connectionString: url })];
  await Promise.all([ear.connect(), hand.connect()]);
  const times: number[] = [];
  let started = Number.POSITIVE_INFINITY;
  await new Promise<void>((resolve, reject) => {
    const look = async () => {
      for (const id of await claim(hand, 10, 'link')) {
        times.push(Number(process.hrtime.bigint() - BigInt(id)) / 1e6);
      }
      if (times.length >= started) resolve();
    };
    ear.on('notification', () => void look().catch(reject));
    ear
      .query(`LISTEN ${CHANNEL}`)
      .then(start)
      .then(({ ended }) => ended)
      .then((count) => {
        started = count;
        return look();
      })
      .catch(reject);
  });
  await Promise.all([ear.end(), hand.end()]);
  return times;
}

/** The starting side: the time is the job's id. */
export async function rawStarter(url: string): Promise<Pick<System, 'start' | 'close'>> {
  const db = new pg.Client({ connectionString: url });
  await db.connect();
  const text = `WITH job AS (INSERT INTO jobs (job_id, lane, tenant_id, priority, due_at, state, first_command, first_body, first_link)
      VALUES ($1, $2, 'acme', 0, $3, '{}', $1, $4, 'link') RETURNING job_id),
    listed AS (INSERT INTO created (job_ids) SELECT ARRAY[job_id] FROM job)
    SELECT pg_notify('${CHANNEL}', '')`;
  return {
    start: (_kind, input) =>
      db.query({ name: 'start', text, values: [input, RAW.lane, Date.now(), RAW.claim] }),
    close: () => db.end(),
  };
}
