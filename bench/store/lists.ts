/**
 * What it costs to list and count jobs beside a million that ended: `npm run bench:lists`, or `npm run bench:lists -- postgres`.
 */
import type { Status } from '../../src/kernel/index.js';
import type { JobList } from '../../src/ports/store.js';
import { crowdsSql, measure, onGrounds, type Crowd } from './ground.js';

const now = Date.now();
const ended = (status: Status): Crowd['columns'] => ({ status: `'${status}'`, finished_at: `${now}` });

/** In the order in which they were created. */
const CROWDS: readonly Crowd[] = [
  { count: 30, tenantId: 'acme', columns: ended('failed') },
  { count: 200, tenantId: 'globex', columns: ended('succeeded') },
  { count: 20, tenantId: 'acme', task: 'report', columns: ended('succeeded') },
  { count: 20, tenantId: 'default', columns: ended('failed') },
  { count: 500_000, tenantId: 'acme', columns: ended('succeeded') },
  { count: 10, tenantId: 'acme', columns: { status: "'waiting'" } },
  { count: 500_000, tenantId: 'default', columns: ended('succeeded') },
  { count: 5, tenantId: 'acme', columns: { status: "'running'", incarnation: "'w.1'" } },
];

await onGrounds(async ({ open, ...place }) => {
  const { store, run } = await open();
  for (const sql of crowdsSql(CROWDS, place)) await run(sql);
  const all = { tenantId: null, statuses: null, task: null, limit: 50, cursor: null };
  const show = (name: string, filter: object) =>
    measure(
      name,
      () => store.list({ ...all, ...filter }),
      (answer) => `${(answer as JobList).rows.length} jobs`,
    );
  await show('the newest', {});
  await show('the newest of acme', { tenantId: 'acme' });
  await show('failed, of all', { statuses: ['failed'] });
  await show('failed, of acme', { tenantId: 'acme', statuses: ['failed'] });
  await show('waiting, of acme', { tenantId: 'acme', statuses: ['waiting'] });
  await show('running, of acme', { tenantId: 'acme', statuses: ['running'] });
  await show('of a small tenant', { tenantId: 'globex' });
  await show('of a rare task', { task: 'report' });
  await show('of a rare task, of acme', { tenantId: 'acme', task: 'report' });
  await measure('counted, of all', () => store.counts({ tenantId: null }));
  await measure('counted, of acme', () => store.counts({ tenantId: 'acme' }));
  await measure('counted, of a small tenant', () => store.counts({ tenantId: 'globex' }));
  await measure('live, by tenant', () => store.liveCounts());
  await store.close();
});
