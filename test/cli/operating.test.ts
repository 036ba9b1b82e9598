import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { Pawl, pawl as open, task } from '../../src/index.js';
import { keyOf } from '../../src/engine/api-keys.js';
import { cliOn } from './in-process.js';

const folder = mkdtempSync(join(tmpdir(), 'pawl-operating-'));
afterAll(() => rmSync(folder, { recursive: true }));
const storeAt = (name: string): string => `sqlite:${join(folder, name)}`;

test('TSK-7 schedules are put, listed, paused, resumed, triggered and deleted', async () => {
  const pawl = cliOn(storeAt('schedules.db'));
  const put = ['schedules', 'put', 'nightly', 'report', '{"of":"sales"}', '--daily', '02:30'] as const;
  expect(
    await pawl.json(...put, '--zone', 'Europe/Berlin', '--overlap', 'queue', '--catch-up', 'all'),
  ).toMatchObject({
    schedule_id: 'nightly',
    job_type: 'report',
    daily_at: '02:30',
    time_zone: 'Europe/Berlin',
    overlap: 'queue',
    catch_up: 'all',
    payload: { of: 'sales' },
    tenant_id: 'default',
    paused: false,
  });
  expect(await pawl.json('schedules', 'pause', 'nightly')).toMatchObject({
    paused: true,
    next_fire_at: null,
  });
  expect((await pawl('schedules', 'list')).out).toMatch(/nightly +report +daily 02:30 +paused/);
  expect(await pawl.json('schedules', 'resume', 'nightly')).toMatchObject({ paused: false });
  const { job_id: jobId } = await pawl.json('schedules', 'trigger', 'nightly');
  expect(await pawl.json('jobs', 'show', String(jobId))).toMatchObject({
    job_type: 'report',
    state: 'queued',
  });
  expect(await pawl('schedules', 'show', 'nightly', '--tenant', 'other')).toMatchObject({ code: 2 });
  expect(await pawl.json('schedules', 'delete', 'nightly')).toEqual({
    schedule_id: 'nightly',
    deleted: true,
  });
  expect(await pawl('schedules', 'show', 'nightly')).toMatchObject({
    code: 2,
    err: expect.stringContaining('SCHEDULE_NOT_FOUND') as string,
  });
  for (const wrong of [[], ['--every', 'now'], ['--cron', 'x'], ['--daily', '02:30', '--every', '1h']]) {
    expect(await pawl('schedules', 'put', 'odd', 'report', ...wrong)).toMatchObject({
      code: 2,
      err: expect.stringContaining('TASK_INVALID_SCHEDULE') as string,
    });
  }
  const near = await pawl('schedules', 'put', 'odd', 'report', '--every', '1h', '--overlap', 'skipp');
  expect(near).toMatchObject({ code: 2, err: expect.stringContaining("did you mean 'skip'") as string });
});

test('queues are paused and resumed; workers that live are listed', async () => {
  const store = storeAt('queues.db');
  const mail = task({ name: 'mail', queue: 'mail' }, () => 'sent');
  const app = await open({ store, tasks: [mail] });
  onTestFinished(() => app.close());
  await app.work({ stopOnSignal: false, poll: '20ms', workerId: 'w-1' });
  const pawl = cliOn(store);
  expect(await pawl.json('workers')).toMatchObject({ workers: [{ worker_id: 'w-1', queues: ['mail'] }] });
  expect(await pawl.json('queues', 'pause', 'mail', '--by', 'ann')).toEqual({ queue: 'mail', paused: true });
  const { job } = await app.start(mail, null);
  expect(await pawl.json('jobs', 'why', job.id)).toMatchObject({ code: 'queue_paused' });
  expect(await pawl.json('queues', 'list')).toMatchObject({
    queues: ['mail'],
    paused: [{ queue: 'mail', paused_by: 'operator:ann' }],
  });
  expect((await pawl('queues', 'list')).out).toMatch(/mail +1 +paused by operator:ann/);
  expect(await pawl('queues', 'resume', 'mail')).toMatchObject({ code: 0 });
  expect(await job.result({ timeout: '200s' })).toBe('sent');
});

test('a key is shown once, is good for its role and tenant, and for nothing once it is revoked', async () => {
  const store = storeAt('keys.db');
  const pawl = cliOn(store);
  type Key = { key_id: string; key: string };
  const made = await pawl.json<Key>('keys', 'create', 'ci', '--role', 'viewer', '--tenant', 'acme');
  const app = await open({ store });
  onTestFinished(() => app.close());
  const { engine } = Pawl.inside(app);
  expect(await keyOf(engine, made.key)).toMatchObject({ role: 'viewer', tenantId: 'acme', name: 'ci' });
  const listed = await pawl('keys', 'list', '--json');
  expect(JSON.parse(listed.out)).toMatchObject({ keys: [{ key_id: made.key_id, revoked_at: null }] });
  expect(listed.out).not.toContain(made.key.split('_')[2]);
  expect((await pawl.json<{ keys: Key[] }>('keys', 'list', '--tenant', 'other')).keys).toEqual([]);
  expect(await pawl('keys', 'revoke', made.key_id, '--tenant', 'other')).toMatchObject({ code: 2 });
  expect(await pawl('keys', 'revoke', made.key_id)).toMatchObject({ code: 0 });
  expect(await keyOf(engine, made.key)).toBeNull();
  expect((await pawl('keys', 'list')).out).toContain('revoked 20');
  expect(await pawl('keys', 'create', 'x', '--role', 'amdin')).toMatchObject({
    code: 2,
    err: expect.stringContaining("did you mean 'admin'") as string,
  });
  expect((await pawl('keys', 'create', 'x')).out).toMatch(/^pawl_[0-9A-Z]{26}_[0-9a-f]{64}\n/);
});

test('a command that only looks does not make a store', async () => {
  const pawl = cliOn(storeAt('typo.db'));
  for (const args of [
    ['jobs', 'list'],
    ['dlq', 'list'],
    ['schedules', 'list'],
    ['keys', 'list'],
    ['workers'],
  ]) {
    expect(await pawl(...args)).toMatchObject({
      code: 75,
      err: expect.stringContaining('there is no database') as string,
    });
  }
});
