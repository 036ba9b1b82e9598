import { expect, onTestFinished, test } from 'vitest';
import { pawl, task } from '../../src/index.js';
import { groundOn, sqliteUrl } from './ground.js';

const small = task({ name: 'small' }, () => 1);

test('DEC-6 a start that comes again from elsewhere is told what one beside the store is', async () => {
  const { serving, key } = await groundOn(sqliteUrl());
  const app = await pawl({ store: serving.url, key: await key(), tasks: [small] });
  onTestFinished(() => app.close());
  const named = { jobId: 'order-17-charge' };
  await app.start(small, 5, named);
  await expect(app.start(small, 5, named)).rejects.toMatchObject({ code: 'JOB_EXISTS' });
  const keyed = { jobId: 'order-18-charge', idempotencyKey: 'order-18' };
  await app.start(small, 5, keyed);
  expect(await app.start(small, 5, keyed)).toMatchObject({ idempotentHit: true, job: { id: keyed.jobId } });
  await expect(app.start(small, 6, keyed)).rejects.toMatchObject({ code: 'DUPLICATE' });
  const { job } = await app.start(small, 6);
  const again = await app.start(small, 6, { idempotencyKey: job.id });
  expect(again).toMatchObject({ idempotentHit: true, job: { id: job.id } });
});
