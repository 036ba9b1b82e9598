import { expect, test } from 'vitest';
import { Pawl } from '../client/app.js';
import { task } from '../client/task.js';
import { retentionSweep } from './retention.js';
import { verifyEvidence, type EvidenceVerdict } from './evidence/verify-evidence.js';
import { advanceUntil } from '../testkit/index.js';
import { onEveryStore } from '../../test/on-every-store.js';

const job = task({ name: 'job' }, () => 1);
const ledger = task({ name: 'ledger' }, () => 1);
const broken = task({ name: 'broken', retry: { maxRetries: 0 } }, () => {
  throw new Error('always');
});

onEveryStore((fresh) => {
  test('GUA-14 finished jobs go when their time is up, by task and by how they ended; open dead letters stay; evidence comes first', async () => {
    const written = new Map<string, EvidenceVerdict>();
    const rig = await fresh.app({
      tasks: [job, ledger, broken],
      retention: {
        evidence: async ({ jobId, lines }) => void written.set(jobId, await verifyEvidence(lines)),
        keep: '6h',
        rules: [
          { task: 'ledger', keep: '3650d' },
          { status: 'failed', keep: '1h' },
        ],
      },
    });
    const kept = (await rig.app.start(ledger, null)).job;
    const gone = (await rig.app.start(job, null, { idempotencyKey: 'k' })).job;
    const failed = (await rig.app.start(broken, null)).job;
    for (const one of [kept, gone, failed]) await rig.ended(one);
    const startedAt = rig.clock.now();
    await advanceUntil(rig.clock, async () => (await rig.store.load(gone.id)).found === null);
    expect(rig.clock.now() - startedAt).toBeGreaterThanOrEqual(6 * 3_600_000);
    expect((await kept.status()).status).toBe('succeeded');
    expect((await failed.status()).status).toBe('failed');
    await expect(rig.app.start(job, null, { idempotencyKey: 'k' })).rejects.toMatchObject({
      code: 'DUPLICATE',
    });

    const [letter] = await rig.app.deadLetters.list();
    await rig.app.deadLetters.askDiscard(letter?.dlqId ?? '', { by: 'ann', reason: 'old' });
    await rig.app.deadLetters.approveDiscard(letter?.dlqId ?? '', { by: 'bob' });
    await advanceUntil(rig.clock, async () => (await rig.store.load(failed.id)).found === null);
    expect([...written.keys()]).toEqual([gone.id, failed.id]);
    expect([...written.values()].every(({ holds }) => holds)).toBe(true);
  });

  test('GUA-14 what is kept for a short time is looked through as often', async () => {
    const rig = await fresh.app({ tasks: [job], retention: { keep: '2m' } });
    const gone = (await rig.app.start(job, null)).job;
    await rig.ended(gone);
    const endedAt = rig.clock.now();
    await advanceUntil(rig.clock, async () => (await rig.store.load(gone.id)).found === null);
    expect(rig.clock.now() - endedAt).toBeGreaterThanOrEqual(2 * 60_000);
    expect(rig.clock.now() - endedAt).toBeLessThanOrEqual(4 * 60_000);
  });

  test('GUA-14 a job is kept for a minute at least: a start that comes twice must find it', async () => {
    const rig = await fresh.app({ tasks: [job] });
    const gone = (await rig.app.start(job, null)).job;
    await rig.ended(gone);
    const sweep = retentionSweep(Pawl.inside(rig.app).engine, { keep: 0, rules: [{ task: 'job', keep: 0 }] });
    const isThere = async () => (await rig.store.load(gone.id)).found !== null;
    rig.clock.advance(59_000);
    await sweep();
    expect(await isThere()).toBe(true);
    rig.clock.advance(2_000);
    await sweep();
    expect(await isThere()).toBe(false);
  });
});
