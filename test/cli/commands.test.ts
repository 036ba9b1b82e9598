import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { pawl as open, task, type Pawl } from '../../src/index.js';
import { cliOn, type InProcess } from './in-process.js';

const folder = mkdtempSync(join(tmpdir(), 'pawl-commands-'));
afterAll(() => rmSync(folder, { recursive: true }));
let stores = 0;

function freshStore(): string {
  return `sqlite:${join(folder, `${(stores += 1)}.db`)}`;
}

const greet = task({ name: 'greet' }, ({ input, step }) => step.run('greet', () => ({ hello: input })));
const approval = task({ name: 'approval' }, ({ step }) => step.waitFor('approval'));
const fragile = task({ name: 'fragile', retry: { maxRetries: 0 } }, () => {
  throw new Error('\u001b[31mthe printer is on fire\u001b[2J');
});

const flaky = task({ name: 'flaky', retry: { baseMs: 600_000, maxBackoffMs: 600_000 } }, () => {
  throw new Error('try again');
});

/** A worker on a store, until the test is over. */
async function working(store: string): Promise<Pawl> {
  const app = await open({ store, tasks: [greet, approval, fragile, flaky] });
  onTestFinished(() => app.close());
  await app.work({ stopOnSignal: false, poll: '20ms' });
  return app;
}

type JobShown = { job_id: string; state: string; status: string; tenant_id: string; idempotent_hit: boolean };

/** Asks until a job is in a state. */
async function reaches(pawl: InProcess, jobId: string, state: string): Promise<void> {
  await expect.poll(async () => (await pawl.json<JobShown>('jobs', 'show', jobId)).state).toBe(state);
}

describe('pawl start', () => {
  test('takes its input from the argument, a file or standard input, and never from two of them', async () => {
    const store = freshStore();
    const file = join(folder, 'input.json');
    writeFileSync(file, '{"from":"file"}');
    const pawl = cliOn(store, { input: '{"from":"stdin"}' });
    const payload = async (...args: string[]): Promise<unknown> =>
      (await pawl.json('start', 'greet', ...args))['payload_json'];
    expect(await payload('{"from":"argument"}')).toEqual({ from: 'argument' });
    expect(await payload('--input-file', file)).toEqual({ from: 'file' });
    expect(await payload('-')).toEqual({ from: 'stdin' });
    expect(await payload()).toBeNull();
    expect(await pawl('start', 'greet', '{}', '--input-file', file)).toMatchObject({ code: 2 });
    expect(await pawl('start', 'greet', '{nonsense')).toMatchObject({
      code: 2,
      err: expect.stringContaining('INVALID_INPUT') as string,
    });
    expect(await pawl('start', 'greet', '--input-file', join(folder, 'none.json'))).toMatchObject({
      code: 2,
    });
  });

  test('DEC-6 the same key is the same job; another input with it is refused with exit code 3', async () => {
    const pawl = cliOn(freshStore());
    const key = ['--key', 'k', '--scope', 's'];
    const first = await pawl.json<JobShown>('start', 'greet', '1', ...key);
    const second = await pawl.json<JobShown>('start', 'greet', '1', ...key);
    expect([first.idempotent_hit, second.idempotent_hit]).toEqual([false, true]);
    expect(second.job_id).toBe(first.job_id);
    expect(await pawl('start', 'greet', '2', ...key)).toMatchObject({
      code: 3,
      err: expect.stringContaining('DUPLICATE') as string,
    });
    expect((await pawl.json<JobShown>('start', 'greet', '2', '--key', 'k')).idempotent_hit).toBe(false);
  });

  test('delay, time, queue, priority and tenant reach the job', async () => {
    const pawl = cliOn(freshStore());
    const later = await pawl.json('start', 'greet', '--at', '2099-01-31T08:00:00Z', '--queue', 'mail');
    expect(later).toMatchObject({ state: 'scheduled', scheduled_at: '2099-01-31T08:00:00Z', queue: 'mail' });
    const other = await pawl.json('start', 'greet', '--delay', '1h', '--priority', '-5', '--tenant', 'acme');
    expect(other).toMatchObject({ state: 'scheduled', priority: -5, tenant_id: 'acme' });
    for (const wrong of [
      ['--at', 'tomorrow'],
      ['--delay', 'soon'],
      ['--priority', 'high'],
    ]) {
      expect(await pawl('start', 'greet', ...wrong)).toMatchObject({ code: 2 });
    }
  });

  test('--wait: the exit code says how the job ended, and people see its steps', async () => {
    const store = freshStore();
    await working(store);
    const pawl = cliOn(store, { isTerminal: true });
    const done = await pawl('start', 'greet', '"Ada"', '--wait');
    expect(done).toMatchObject({ code: 0, out: '{"hello":"Ada"}\n' });
    expect(done.err).toMatch(/Job \w+ is started\.\n {2}✓ greet {2}\d+ ms\nJob \w+ has succeeded\.\n/);
    expect((await cliOn(store)('start', 'greet', '--wait')).err).toBe('');
    expect(await pawl('start', 'fragile', '--wait', '--json')).toMatchObject({ code: 1, out: '' });
    const late = await pawl('start', 'approval', '--wait', '--timeout', '1s');
    expect(late).toMatchObject({ code: 75, err: expect.stringContaining('RESULT_TIMEOUT') as string });
    const [, jobId = ''] = /Job (\w+) is started/.exec(late.err) ?? [];
    const waiting = pawl('start', 'approval', 'null', '--wait', '--key', 'k');
    await pawl('jobs', 'cancel', jobId);
    const { job_id: other } = await pawl.json<JobShown>('start', 'approval', '--key', 'k');
    await pawl('jobs', 'cancel', other);
    expect(await waiting).toMatchObject({ code: 3 });
  });
});

describe('pawl jobs', () => {
  let store = '';
  let pawl: InProcess;
  beforeAll(async () => {
    store = freshStore();
    pawl = cliOn(store);
    await pawl('migrate');
  });

  test('lists, by state, task and tenant, page by page', async () => {
    for (const tenant of ['a', 'b', 'a']) await pawl('start', 'greet', '--tenant', tenant);
    await pawl('start', 'other', '--tenant', 'a');
    const list = (...args: string[]) =>
      pawl.json<{ jobs: JobShown[]; next_cursor: string | null }>('jobs', 'list', ...args);
    expect((await list()).jobs).toHaveLength(4);
    expect((await list('--tenant', 'a', '--task', 'greet', '--state', 'queued')).jobs).toHaveLength(2);
    expect((await list('--state', 'failed')).jobs).toEqual([]);
    const { jobs, next_cursor: cursor } = await list('--limit', '3');
    const rest = await list('--limit', '3', '--cursor', cursor ?? '');
    expect([jobs.length, rest.jobs.length, rest.next_cursor]).toEqual([3, 1, null]);
    const { out } = await pawl('jobs', 'list', '--limit', '3');
    expect(out.split('\n')[0]).toMatch(/^JOB +TASK +STATE +RETRIES +ERROR +TENANT +CREATED$/);
    expect(out).toContain(`--cursor ${cursor}`);
    expect((await pawl('jobs', 'list', '--state', 'failed')).out).toBe('There are no such jobs.\n');
  });

  test('JOB-14 another tenant’s job is not found, whatever is asked of it', async () => {
    const { job_id: jobId } = await pawl.json<JobShown>('start', 'greet', '--tenant', 'mine');
    for (const args of [
      ['show'],
      ['events'],
      ['why'],
      ['cancel'],
      ['abandon', '--reason', 'x'],
      ['retry'],
      ['signal', 'key'],
    ]) {
      const [verb = '', ...rest] = args;
      expect(await pawl('jobs', verb, jobId, ...rest, '--tenant', 'yours')).toMatchObject({
        code: 2,
        err: expect.stringContaining('JOB_NOT_FOUND') as string,
      });
    }
    expect(await pawl('jobs', 'show', jobId, '--tenant', 'mine')).toMatchObject({ code: 0 });
  });

  test('GUA-8 a signal that comes early is kept, delivered once, and said to be a repetition after that', async () => {
    const app = await working(store);
    const { job_id: jobId } = await pawl.json<JobShown>('start', 'approval', '--delay', '1h');
    const signal = (...rest: string[]) => pawl.json('jobs', 'signal', jobId, ...rest);
    expect(await signal('approval', '{"by":"Ada"}')).toMatchObject({ outcome: 'kept' });
    expect(await signal('approval')).toMatchObject({ outcome: 'repeated' });
    const { job } = await app.start(approval, null);
    await reaches(pawl, job.id, 'waiting');
    expect((await pawl('jobs', 'signal', job.id, 'approval', '7')).out).toContain('goes on');
    expect(await job.result({ timeout: '200s' })).toBe(7);
    expect(await pawl('jobs', 'signal', job.id, 'bad key \n', '7')).toMatchObject({ code: 2 });
    expect(await pawl('jobs', 'signal', job.id, 'other', '7')).toMatchObject({ code: 3 });
  });

  test('shows steps, events and what a job waits for; cancels; retries as new', async () => {
    const app = await working(store);
    const { job } = await app.start(greet, 'Ada');
    await job.result({ timeout: '200s' });
    const shown = await pawl.json('jobs', 'show', job.id);
    expect(shown).toMatchObject({ state: 'succeeded', steps: [{ name: 'greet', status: 'success' }] });
    const { events } = await pawl.json<{ events: { type: string }[] }>('jobs', 'events', job.id);
    expect(events.map(({ type }) => type)).toEqual([
      'job.created',
      'job.promoted',
      'attempt.started',
      'step.recorded',
      'job.succeeded',
    ]);
    expect(await pawl.json('jobs', 'why', job.id)).toMatchObject({ code: 'finished', until: null });
    expect(await pawl('jobs', 'cancel', job.id)).toMatchObject({ code: 3 });
    const again = await pawl.json<JobShown>('jobs', 'retry', job.id);
    expect(again.job_id).not.toBe(job.id);
    await reaches(pawl, again.job_id, 'succeeded');
    const { job_id: waiting } = await pawl.json<JobShown>('start', 'approval');
    expect(await pawl.json('jobs', 'cancel', waiting, '--reason', 'twice')).toMatchObject({
      state: 'cancelled',
    });
  });

  test('JOB-7 DEC-4 abandons a job that is retrying, with a reason; not one that waits', async () => {
    await working(store);
    const ask = (jobId: string, ...rest: string[]) => pawl('jobs', 'abandon', jobId, ...rest);
    const { job_id: jobId } = await pawl.json<JobShown>('start', 'flaky');
    await reaches(pawl, jobId, 'retrying');
    expect(await ask(jobId)).toMatchObject({ code: 2, err: expect.stringContaining('--reason') as string });
    expect(await ask(jobId, '--reason', ' ')).toMatchObject({
      code: 2,
      err: expect.stringContaining('INVALID_OPTION') as string,
    });
    expect(await ask(jobId, '--reason', 'no use', '--by', 'ann')).toMatchObject({
      code: 0,
      out: `Job ${jobId} has failed, and is in the dead letters: dlq_${jobId}\n`,
    });
    expect(await pawl.json('jobs', 'show', jobId)).toMatchObject({
      state: 'failed',
      error_code: 'ABANDONED',
    });
    expect((await pawl('jobs', 'events', jobId)).out).toMatch(/dlq\.entered .* operator:ann/);
    expect(await pawl.json('dlq', 'list', '--error', 'ABANDONED')).toMatchObject({
      items: [{ job_id: jobId, status: 'open' }],
    });
    const { job_id: second } = await pawl.json<JobShown>('start', 'flaky');
    await reaches(pawl, second, 'retrying');
    expect(await pawl.json('jobs', 'abandon', second, '--reason', 'no use')).toMatchObject({
      job_id: second,
      state: 'failed',
    });
    const { job_id: waiting } = await pawl.json<JobShown>('start', 'approval');
    await reaches(pawl, waiting, 'waiting');
    expect(await ask(waiting, '--reason', 'no use')).toMatchObject({
      code: 3,
      err: expect.stringContaining('INVALID_TRANSITION') as string,
    });
    await reaches(pawl, waiting, 'waiting');
  });
});

describe('pawl dlq', () => {
  test('JOB-8 JOB-9 lists, shows without control sequences, requeues one or all, and discards with two people', async () => {
    const store = freshStore();
    const app = await working(store);
    const pawl = cliOn(store);
    const started = await app.startMany(
      fragile,
      Array.from({ length: 5 }, () => ({ input: null })),
    );
    for (const { job } of started) await reaches(pawl, job.id, 'failed');
    type Items = { items: { dlq_id: string; job_id: string }[] };
    const { items } = await pawl.json<Items>('dlq', 'list', '--error', 'TASK_EXECUTION_FAILED');
    const [a = '', b = '', c = ''] = items.map(({ dlq_id: id }) => id);
    expect(items).toHaveLength(5);
    expect((await pawl.json<Items>('dlq', 'list', '--task', 'other')).items).toEqual([]);
    expect((await pawl('dlq', 'show', a)).out).toContain('TASK_EXECUTION_FAILED');
    expect((await pawl('jobs', 'show', started[0]?.job.id ?? '')).out).not.toContain('\u001b');

    expect(await pawl.json('dlq', 'requeue', a, '--by', 'ann')).toMatchObject({ requeued_from: a });
    expect(await pawl('dlq', 'requeue', a)).toMatchObject({ code: 3 });
    const both = await pawl('dlq', 'requeue', c, '--keep-recorded', '--repeat-effects');
    expect([both.code, both.err]).toEqual([
      2,
      expect.stringContaining("cannot be used with option '--keep-recorded'"),
    ]);
    const keeping = await pawl.json('dlq', 'requeue', c, '--keep-recorded');
    expect(keeping['continues']).toBe(items.find(({ dlq_id: id }) => id === c)?.job_id);
    expect(await pawl('jobs', 'retry', String(keeping['continues']), '--keep-recorded')).toMatchObject({
      code: 3,
    });
    expect(await pawl('dlq', 'approve', b, '--by', 'bob')).toMatchObject({ code: 2 });
    expect(await pawl('dlq', 'discard', b, '--by', 'ann')).toMatchObject({ code: 2 });
    expect(await pawl('dlq', 'discard', b, '--reason', 'test data', '--by', 'ann')).toMatchObject({
      code: 0,
    });
    expect(await pawl('dlq', 'approve', b, '--by', 'ann')).toMatchObject({ code: 2 });
    expect(await pawl.json('dlq', 'approve', b, '--by', 'bob')).toMatchObject({ status: 'discarded' });
    expect(await pawl('dlq', 'show', c, '--tenant', 'other')).toMatchObject({ code: 2 });

    const open5 = await pawl.json('dlq', 'requeue-all', '--task', 'fragile', '--dry-run');
    expect(open5).toMatchObject({ dry_run: true, passed_over: 0 });
    expect(open5['requeued']).toBeGreaterThanOrEqual(3);
    const watched = await cliOn(store, { isTerminal: true })('dlq', 'requeue-all', '--rate', '1000');
    expect(watched.err).toContain('1 requeued');
    expect(watched.out).toMatch(/^\d+ requeued\.\n$/);
  });
});
