import { describe, expect, onTestFinished, test } from 'vitest';
import { fatal, task } from '../../src/index.js';
import { CONTRACTS } from '../../src/contracts/index.js';
import { ApiRig, type RigOptions } from './api-rig.js';

const ROOT = '/api/v1/runs';

async function rigOf(options: RigOptions = {}): Promise<ApiRig> {
  const rig = await ApiRig.start({ served: true, ...options });
  onTestFinished(() => rig.stop());
  return rig;
}

describe('runs by their id', () => {
  test.each([
    'short',
    '-begins-badly',
    'has spaces in it',
    'has/slash/in/it',
    'x'.repeat(129),
    'línea-uno',
    'tab\tinside',
    'nul\u0000inside',
    'half\ud800pair',
    '../../etc/passwd',
    7,
    null,
    {},
  ])('RST-5 a bad run_id is refused with 400, wherever it is given: %j', async (run_id) => {
    const rig = await rigOf();
    for (const [path, body] of [
      [ROOT, { workflow_name: 'w', run_id }],
      ['/api/v1/task-runs', { task_id: 't', run_id }],
      ['/api/v1/jobs', { job_type: 'w', job_id: run_id }],
    ] as const) {
      const { status, error } = await rig.post(path, body);
      expect([path, status, error.code]).toEqual([path, 400, 'INVALID_REQUEST']);
      expect(error.details?.['field']).toMatch(/^body\.(run|job)_id$/);
    }
    if (typeof run_id === 'string' && !run_id.includes('/')) {
      const asked = encodeURIComponent(run_id.toWellFormed());
      expect((await rig.get(`${ROOT}/${asked}`)).status).toBe(400);
      expect((await rig.get(`/api/v1/task-runs/${asked}`)).status).toBe(400);
    }
    expect((await rig.get('/api/v1/jobs')).data['jobs']).toEqual([]);
  });

  test('RST-5 a good one is taken; without one it is a time-ordered id', async () => {
    const rig = await rigOf();
    for (const run_id of ['01ARZ3NDEKTSV4RRFFQ69G5FAV', 'deploy:2026-02-25.7_b', 'x'.repeat(128)]) {
      const { status, data } = await rig.post(ROOT, { workflow_name: 'w', run_id });
      expect([status, data['run_id']]).toEqual([201, run_id]);
      const taken = await rig.post(ROOT, { workflow_name: 'w', run_id });
      expect([taken.status, taken.error.code]).toEqual([409, 'RUN_EXISTS']);
    }
    const ids = [];
    for (let n = 0; n < 3; n++) {
      const { data } = await rig.post(ROOT, { workflow_name: 'w' });
      expect(data['run_id']).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
      ids.push(String(data['run_id']));
      rig.app.clock.advance(2);
    }
    expect(ids).toEqual(ids.toSorted());
  });

  test('RST-10 the status of a run: its snapshot, with the latest error; an unknown one is not found', async () => {
    const flaky = task({ name: 'deploy' }, async ({ step }) => {
      await step.run('build', () => 'built');
      await step.run('ship', () => {
        throw fatal(new Error('no ship'));
      });
    });
    const rig = await rigOf({ tasks: [flaky], work: {} });
    const { data } = await rig.post(ROOT, { workflow_name: 'deploy', input: { tag: 'v1' } });
    const path = `${ROOT}/${String(data['run_id'])}`;
    await expect.poll(async () => (await rig.get(path)).data['status']).toBe('failed');
    const run = (await rig.get(path)).data;
    expect(Object.keys(run)).toEqual([
      'run_id',
      'workflow_name',
      'status',
      'message',
      'last_error',
      'interrupted_reason',
      'version',
      'started_at',
      'finished_at',
      'updated_at',
      'reconciliation',
      'steps',
    ]);
    expect(run).toMatchObject({
      workflow_name: 'deploy',
      last_error: { code: 'TASK_EXECUTION_FAILED', message: 'no ship' },
      reconciliation: null,
      steps: [
        { name: 'build', status: 'success' },
        { name: 'ship', status: 'failed' },
      ],
    });
    const unknown = await rig.get(`${ROOT}/no-such-run`);
    expect([unknown.status, unknown.error.code]).toEqual([404, 'RUN_NOT_FOUND']);
    const [listed] = (await rig.get(`${ROOT}?status=failed&workflow_name=deploy`)).data['runs'] as object[];
    const { steps: _steps, ...summary } = run;
    expect(listed).toEqual(summary);
  });

  test('DEC-12 every contract lists, by each of its states, what shows in that state', async () => {
    const rig = await rigOf();
    const start = async () => String((await rig.post('/api/v1/jobs', { job_type: 'w' })).data['job_id']);
    await rig.drill(await start());
    await rig.drill(await start(), '?force_fail=true');
    await rig.drill(await start(), '?transient_fail=true');
    await rig.post(`/api/v1/jobs/${await start()}/cancel`);
    await start();
    await rig.post('/api/v1/jobs', { job_type: 'w', delay_ms: 60_000 });
    const word: Readonly<Record<string, string>> = { 'task-runs': 'run_status', tasks: 'state' };
    for (const { name, resource, machine } of Object.values(CONTRACTS)) {
      const all = Object.values((await rig.get(resource)).data)[0] as Record<string, unknown>[];
      expect(all).toHaveLength(6);
      for (const state of machine.states) {
        const field = word[name] ?? 'status';
        const { data } = await rig.get(`${resource}?${field}=${state}`);
        const shown = Object.values(data)[0] as Record<string, unknown>[];
        expect([resource, state, shown]).toEqual([
          resource,
          state,
          all.filter((one) => one[field] === state),
        ]);
      }
    }
  });

  test.each([
    'limit=0',
    'limit=201',
    'limit=-1',
    'limit=1.5',
    'limit=1e2',
    'limit=ten',
    'limit=',
    'limit=99999999999999999999',
    'cursor=',
    'cursor=no-such-job',
    `cursor=${'x'.repeat(401)}`,
    'cursor=%00%00%00%00%00%00%00%00',
    'unknown=1',
  ])('DEC-12 a page that cannot be is refused: ?%s', async (query) => {
    const rig = await rigOf();
    for (const path of [
      '/api/v1/jobs',
      ROOT,
      '/api/v1/task-runs',
      '/api/v1/tasks',
      '/api/jobs',
      '/api/v1/dlq',
    ]) {
      const { status, error } = await rig.get(`${path}?${query}`);
      expect([path, status, error.code]).toEqual([path, 400, 'INVALID_REQUEST']);
    }
  });

  test('JOB-14 with a cursor of another tenant’s nothing of theirs is shown, and all that is one’s own behind it', async () => {
    const rig = await rigOf();
    const started: string[] = [];
    for (const key of ['operator', 'other', 'operator', 'other', 'operator']) {
      const { data } = await rig.post('/api/v1/jobs', { job_type: 'w' }, { key });
      started.push(String(data['job_id']));
    }
    const [a1, b1, a2, b2, a3] = started;
    const page = async (key: string, query: string) => {
      const { data } = await rig.get(`/api/v1/jobs?${query}`, { key });
      const jobs = data['jobs'] as { job_id: string }[];
      return { ids: jobs.map(({ job_id }) => job_id), cursor: `cursor=${String(data['next_cursor'])}` };
    };
    const [first, firstOfOther] = [await page('operator', 'limit=1'), await page('other', 'limit=1')];
    expect([first.ids, firstOfOther.ids]).toEqual([[a3], [b2]]);
    expect((await page('operator', first.cursor)).ids).toEqual([a2, a1]);
    expect((await page('other', first.cursor)).ids).toEqual([b2, b1]);
    expect((await page('operator', firstOfOther.cursor)).ids).toEqual([a2, a1]);
  });
});
