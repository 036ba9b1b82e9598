import { expect, test } from 'vitest';
import { fatal, task } from '../index.js';
import { Pawl } from '../client/pawl.js';
import { METRICS } from '../engine/metric-names.js';
import type { Store } from '../ports/store.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import { fakeClock, T0, testApp } from '../testkit/index.js';
import { LoopLag } from './loop-lag.js';
import { Metrics } from './metrics.js';

const lag = new LoopLag();

test('JOB-12 every metric of the list is shown, and none that is not on it', async () => {
  const { app, stop } = await testApp({ tasks: [] });
  const text = await new Metrics(Pawl.inside(app).engine, { lag, streams: () => 0 }).text('default');
  const shown = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, kind]) => [name, kind]);
  expect(new Map(shown as [string, string][])).toEqual(
    new Map(Object.entries(METRICS).map(([name, { kind }]) => [name, kind])),
  );
  await stop();
});

test('JOB-14 jobs and dead letters are counted, of the tenant that asks only', async () => {
  const fail = task({ name: 'fail' }, () => {
    throw fatal(new Error('no'));
  });
  const nap = task({ name: 'nap' }, async ({ step }) => step.sleep('night', '1d'));
  const { app, idle, ended, stop, clock } = await testApp({ tasks: [fail, nap] });
  const one = await app.start(fail, null, { tenantId: 'acme' });
  await app.start(nap, null, { tenantId: 'acme' });
  await app.start(nap, null, { tenantId: 'globex' });
  await ended(one.job);
  await idle();
  const metrics = new Metrics(Pawl.inside(app).engine, { lag, streams: () => 3 });
  const text = await metrics.text('acme');
  expect(text).toContain('\npawl_jobs{tenant="acme",status="waiting"} 1\n');
  expect(text).toContain('\npawl_dlq_open{tenant="acme"} 1\n');
  expect(text).toContain('\npawl_dlq_entries_total{tenant="acme"} 1\n');
  expect(text).toContain('\npawl_jobs_finished_total{status="failed"} 1\n');
  expect(text).toContain('\npawl_claim_wait_seconds_bucket{le="+Inf"} 3\n');
  expect(text).toContain('\npawl_feed_lag_seconds 0\n');
  expect(text).toContain('\npawl_streams 3\n');
  expect(text).toContain('\npawl_store_up 1\n');
  expect(text).not.toContain('globex');

  await app.start(nap, null, { tenantId: 'acme', queue: 'nobody works here' });
  expect(await metrics.text('acme')).not.toContain('pawl_queue_oldest_seconds{');
  clock.advance(11_000);
  expect(await metrics.text('acme')).toContain('pawl_queue_oldest_seconds{queue="nobody works here"} 11');
  await stop();
});

test('names from outside cannot break the format', async () => {
  const queue = 'a"b\\c';
  const odd = task({ name: 'odd', queue }, () => 1);
  const { app, stop } = await testApp({ tasks: [], work: false });
  await app.start(odd, null);
  const text = await new Metrics(Pawl.inside(app).engine, { lag, streams: () => 0 }).text('default');
  expect(text).toContain('pawl_queue_oldest_seconds{queue="a\\"b\\\\c"} 0');
  await stop();
});

test('JOB-14 how long the feed is held back is told', async () => {
  const clock = fakeClock(T0);
  const feedHeldBack: Store['feedHeldBack'] = async () => ({ now: T0, since: T0 - 7_500 });
  const store = { ...memoryStore({ clock }), feedHeldBack };
  const { app, stop } = await testApp({ tasks: [], work: false, clock, store });
  const metrics = new Metrics(Pawl.inside(app).engine, { lag, streams: () => 0 });
  expect(await metrics.text('default')).toContain('\npawl_feed_lag_seconds 7.5\n');
  await stop();
});
