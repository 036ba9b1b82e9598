import { expect, onTestFinished, test } from 'vitest';
import { effect, notHappened, task } from '../../src/index.js';
import { groundOn, remoteApp } from './ground.js';
import { LossyProxy } from './lossy-proxy.js';

test('GUA-4 a late result of a remote worker is kept, and the server raises the alert', async () => {
  const { app, serving, key } = await groundOn('memory:');
  const proxy = new LossyProxy(serving.url);
  const url = await proxy.open();
  onTestFinished(() => proxy.close());
  const finish: ((result: string) => void)[] = [];
  const charge = effect({
    name: 'charge',
    run: () => new Promise<string>((resolve) => finish.push(resolve)),
    reconcile: () => notHappened(),
    settle: 0,
  });
  const order = task({ name: 'order' }, ({ step }) => step.effect('charge', charge, 1));
  const cutOff = await remoteApp(url, { key: await key(), tasks: [order] });
  const { job } = await cutOff.start(order, null);
  await expect.poll(() => finish.length).toBe(1);
  proxy.fate = () => 'there';

  await remoteApp(serving.url, { key: await key(), tasks: [order] });
  await expect.poll(() => finish.length).toBe(2);
  finish[0]?.('first');
  proxy.fate = () => 'through';
  await expect
    .poll(() => app.alerts.list({ tenantId: 'acme' }))
    .toMatchObject([{ rule: 'effect_late_result', severity: 'P1', jobId: job.id, step: 'charge' }]);
  finish[1]?.('second');
  await expect.poll(async () => (await app.job(job.id).status()).result).toBe('"second"');
}, 120_000);
