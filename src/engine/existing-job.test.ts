import { expect, test } from 'vitest';
import { onEveryStore } from '../../test/on-every-store.js';
import { task } from '../client/task.js';

const small = task({ name: 'small' }, () => 1);
const other = task({ name: 'other' }, () => 1);

onEveryStore((fresh) => {
  test('DEC-6 a start with an id and a key of its own, once more: a hit, however many come at once', async () => {
    const { app } = await fresh.app({ tasks: [small], work: false });
    const options = { jobId: 'order-17-charge', idempotencyKey: 'order-17' };
    const all = await Promise.all(Array.from({ length: 20 }, () => app.start(small, { cents: 5 }, options)));
    expect(all.filter(({ idempotentHit }) => !idempotentHit)).toHaveLength(1);
    expect(new Set(all.map(({ job }) => job.id))).toEqual(new Set(['order-17-charge']));
    const differs = app.start(small, { cents: 6 }, options);
    await expect(differs).rejects.toMatchObject({
      code: 'DUPLICATE',
      details: { conflictFields: ['input'] },
    });
  });

  test('DEC-6 an id that is taken, by another key or by none, is no hit', async () => {
    const { app } = await fresh.app({ tasks: [small], work: false });
    await app.start(small, null, { jobId: 'order-17-charge', idempotencyKey: 'order-17' });
    await app.start(small, null, { jobId: 'order-18-charge' });
    for (const jobId of ['order-17-charge', 'order-18-charge'])
      for (const key of [{}, { idempotencyKey: 'order-19' }])
        await expect(app.start(small, null, { jobId, ...key })).rejects.toMatchObject({ code: 'JOB_EXISTS' });
  });

  test('DEC-6 a key that was made up for a job is its key: sent back, it leads there', async () => {
    const { app } = await fresh.app({ tasks: [small, other], work: false });
    const { job } = await app.start(small, { cents: 5 });
    const { idempotencyKey } = (await job.status()).spec;
    const again = await app.start(small, { cents: 5 }, { idempotencyKey });
    expect([again.idempotentHit, again.job.id]).toEqual([true, job.id]);
    for (const differs of [
      app.start(small, { cents: 6 }, { idempotencyKey }),
      app.start(other, { cents: 5 }, { idempotencyKey }),
    ])
      await expect(differs).rejects.toMatchObject({ code: 'DUPLICATE' });
    const elsewhere = { idempotencyKey, tenantId: 'acme' };
    const scoped = { idempotencyKey, scope: 'mail' };
    for (const options of [elsewhere, scoped])
      expect((await app.start(small, { cents: 5 }, options)).idempotentHit).toBe(false);
  });

  test('DEC-6 among many, each gets its own answer, in the order in which they were asked for', async () => {
    const { app } = await fresh.app({ tasks: [small], work: false });
    const { job } = await app.start(small, 0);
    const key = { idempotencyKey: job.id };
    const started = await app.startMany(small, [{ input: 1 }, { input: 0, options: key }, { input: 2 }]);
    expect(started.map(({ idempotentHit }) => idempotentHit)).toEqual([false, true, false]);
    expect(started[1]?.job.id).toBe(job.id);
    const inputs = await Promise.all(started.map(async (one) => (await one.job.status()).input));
    expect(inputs).toEqual(['1', '0', '2']);
  });
});
