import { expect, test } from 'vitest';
import { InvariantViolation, UnreadableLog, type JobRow } from '../../src/kernel/index.js';
import type { Store } from '../../src/ports/store.js';
import { memoryStore } from '../../src/stores/memory/memory-store.js';
import { fakeClock, T0 } from '../../src/testkit/index.js';
import { rigOf, start } from './stream-ground.js';

type Listed = { readonly runs: readonly { run_id: string }[]; readonly next_cursor: string | null };

test('RST-9 a list by a status that few of the rows have looks at so many, and says where to go on', async () => {
  const clock = fakeClock(T0);
  const inner = memoryStore({ clock });
  const pages: number[] = [];
  const store: Store = {
    ...inner,
    /** As if there were any number of the same. */
    async list(filter) {
      const { rows, ...page } = await inner.list(filter);
      pages.push(filter.limit);
      return { ...page, rows: Array.from({ length: filter.limit }, () => rows[0] as JobRow), next: '7' };
    },
  };
  const rig = await rigOf({ clock, store });
  await rig.drill(await start(rig, { max_retries: 0 }), '?force_fail=true');
  const { data } = await rig.get('/api/v1/runs?status=interrupted&limit=1');
  expect(data).toMatchObject({ runs: [], next_cursor: '7' });
  expect(pages).toEqual([200, 200, 200, 200, 200]);
});

test('RST-9 pages by status go on behind the last that was shown', async () => {
  const rig = await rigOf();
  const ids: string[] = [];
  for (let n = 0; n < 7; n++) {
    ids.unshift(await start(rig, { max_retries: 0 }));
    if (n % 2 === 0) await rig.drill(ids[0] ?? '', '?force_fail=true');
  }
  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const page = `/api/v1/runs?status=failed&limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`;
    const { runs, next_cursor } = (await rig.get(page)).data as unknown as Listed;
    seen.push(...runs.map(({ run_id }) => run_id));
    cursor = next_cursor;
  }
  expect(seen).toEqual(ids.filter((_, index) => index % 2 === 0));
});

test('RST-9 runs that leave the list, and come into it, while a page is read cost no other its place', async () => {
  const clock = fakeClock(T0);
  const inner = memoryStore({ clock });
  let meanwhile = async (_first: string): Promise<unknown> => undefined;
  const store: Store = {
    ...inner,
    async list(filter) {
      const page = await inner.list(filter);
      await meanwhile(page.rows[0]?.jobId ?? '');
      return page;
    },
  };
  const rig = await rigOf({ clock, store });
  const ids: string[] = [];
  for (let n = 0; n < 6; n++) ids.unshift(await start(rig, { max_retries: 0 }));
  meanwhile = async (first) => [await rig.drill(first, '?force_fail=true'), await start(rig)];
  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const page = `/api/v1/runs?status=queued&limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`;
    const { runs, next_cursor } = (await rig.get(page)).data as unknown as Listed;
    seen.push(...runs.map(({ run_id }) => run_id));
    cursor = next_cursor;
  }
  expect(seen).toEqual([ids[1], ids[3], ids[5]]);
});

test.each([
  [
    'EVENT_UNREADABLE',
    new UnreadableLog({ jobId: 'job_x', rev: 1 }, { code: 'EVENT_UNREADABLE', problem: 'x' }),
  ],
  ['INTERNAL', new InvariantViolation('a state that is none')],
])(
  'a job that cannot be read is left out of lists, and by itself is answered with %s',
  async (code, error) => {
    const clock = fakeClock(T0);
    const inner = memoryStore({ clock });
    let sick = '';
    const store: Store = {
      ...inner,
      async load(jobId) {
        if (jobId === sick) throw error;
        return inner.load(jobId);
      },
    };
    const rig = await rigOf({ clock, store });
    const well = await start(rig);
    sick = await start(rig);
    const { status, data } = await rig.get('/api/v1/jobs');
    expect([status, (data['jobs'] as { job_id: string }[]).map(({ job_id }) => job_id)]).toEqual([
      200,
      [well],
    ]);
    expect((await rig.get(`/api/v1/jobs/${sick}`)).error).toMatchObject({ code });
  },
);
