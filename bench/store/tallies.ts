/**
 * What counting by tenant costs beside a million finished jobs, and what its indexes cost those who never are counted:
 * `npm run bench:tallies`, or `npm run bench:tallies -- postgres`.
 */
import { median } from '../harness/statistics.js';
import { crowdsSql, measure, onGrounds, type Crowd, type Grounds } from './ground.js';
import { claimAndComplete, createAll, creates, worker } from './workload.js';

const now = Date.now();
const LATER = `${now + 1e9}`;

const CROWDS: readonly Crowd[] = [
  { count: 1_000_000, tenantId: 'acme', columns: { status: "'succeeded'", finished_at: `${now}` } },
  { count: 200_000, tenantId: 'globex', columns: { status: "'scheduled'", due_at: LATER } },
  { count: 200_000, tenantId: 'globex', columns: { status: "'queued'", due_at: `${now}`, ready: 'true' } },
  { count: 100_000, tenantId: 'initech', columns: { status: "'retrying'", due_at: LATER } },
  { count: 11, tenantId: 'acme', columns: { status: "'retrying'", due_at: LATER } },
  { count: 500, tenantId: 'acme', columns: { status: "'waiting'" } },
  { count: 50, tenantId: 'acme', columns: { status: "'running'", incarnation: "'w.1'" } },
];

const letters = (schema: string): string =>
  `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
    INSERT INTO ${schema}dlq_items (dlq_id, job_id, tenant_id, status, version, created_at, item)
    SELECT 'd' || i, 'j' || i, 'acme', 'open', 1, ${now} - i * 60, '{}' FROM n`;

async function countBeside({ open, ...place }: Grounds): Promise<void> {
  const { store, run } = await open();
  for (const sql of [...crowdsSql(CROWDS, place), letters(place.schema)]) await run(sql);
  await measure('retrying, by tenant', () => store.retrying({ atLeast: 11 }));
  await measure('live of acme, up to 56', () => store.countLive({ tenantId: 'acme', atMost: 56 }));
  await measure('live of acme, all', () => store.countLive({ tenantId: 'acme', atMost: 1e6 }));
  await measure('live of globex, all', () => store.countLive({ tenantId: 'globex', atMost: 1e6 }));
  const window = { until: now + 1, atLeast: 1 };
  await measure('dead letters of five minutes', () => store.dlqEntered({ from: now - 300_000, ...window }));
  await measure('dead letters of an hour', () => store.dlqEntered({ from: now - 3_600_000, ...window }));
  await store.close();
}

const JOBS = 10_000;
const ROUNDS = 7;

/** Alternating, so that the machine's moods fall on both sides alike. */
async function compare({ open, schema }: Grounds): Promise<void> {
  const took: Record<'with' | 'without', number[]> = { with: [], without: [] };
  for (let n = 0; n < 2 * ROUNDS; n++) {
    const side = n % 4 === 0 || n % 4 === 3 ? 'with' : 'without';
    const { store, run } = await open();
    if (side === 'without')
      for (const index of ['jobs_retrying', 'jobs_resting']) await run(`DROP INDEX ${schema}${index}`);
    await store.beat({ worker, leaseMs: 600_000, lanes: [] });
    await createAll(store, creates(JOBS));
    const start = performance.now();
    await claimAndComplete(store, JOBS);
    took[side].push(((performance.now() - start) * 1_000) / JOBS);
    await store.close();
  }
  const show = (side: keyof typeof took) =>
    `${side} ${median(took[side]).toFixed(1)} (least ${Math.min(...took[side]).toFixed(1)})`;
  console.log(`claim + complete, µs for each job: ${show('with')}, ${show('without')} the two indexes`);
}

await onGrounds(async (grounds) => {
  await countBeside(grounds);
  await compare(grounds);
});
