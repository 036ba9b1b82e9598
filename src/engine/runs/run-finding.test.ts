import { expect, test } from 'vitest';
import { Pawl } from '../../client/app.js';
import { task } from '../../client/task.js';
import type { Courier } from '../../ports/courier.js';
import type { Job } from '../../kernel/index.js';
import { advanceUntil, type TestApp } from '../../testkit/index.js';
import { onEveryStore, type Fresh } from '../../../test/on-every-store.js';
import { listAudit } from '../audit.js';
import { retentionSweep } from '../retention.js';
import { readRun, summarizeRun } from './read-run.js';
import { reconcileJob } from './run-finding.js';

const endless = task({ name: 'endless' }, async ({ step, signal }) => {
  await step.run('begin', () => 1);
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
});
const FINDING = { outcome: 'success', reason: 'the release is live', actor: 'ann' };

function receiver() {
  const bodies: Record<string, unknown>[] = [];
  const courier: Courier = {
    check: async () => undefined,
    async deliver({ body }) {
      bodies.push(JSON.parse(body) as Record<string, unknown>);
      return { status: 204 };
    },
  };
  return { bodies, courier };
}

/** A run whose worker went away, and that somebody has given up since. */
async function interrupted(fresh: Fresh, courier: Courier): Promise<{ rig: TestApp; job: Job }> {
  const rig = await fresh.app({ tasks: [endless], courier, work: false });
  const { job } = await rig.app.start(endless, null);
  await rig.app.work({ lease: '10m', poll: '1s', drain: 0, stopOnSignal: false });
  await advanceUntil(rig.clock, async () => (await job.status()).rev >= 3);
  await rig.run(rig.app.stop());
  await rig.app.abandon(job.id, { by: 'ann', reason: 'its machine is gone' });
  return { rig, job: await job.status() };
}

onEveryStore((fresh) => {
  test('RST-15 a finding about a run of the engine’s own: who and when are kept, the status stays, the version grows, the log does not', async () => {
    const { courier } = receiver();
    const { rig, job } = await interrupted(fresh, courier);
    const { engine } = Pawl.inside(rig.app);
    const before = await readRun(engine, null, job);
    expect(before).toMatchObject({ status: 'interrupted', reconciliation: null, version: job.rev });
    rig.clock.advance(1_000);
    await reconcileJob(engine, job, FINDING);
    const found = await readRun(engine, null, job);
    expect(found).toEqual({
      ...before,
      version: before.version + 1,
      updated_at: found.reconciliation?.at,
      reconciliation: { ...FINDING, at: found.reconciliation?.at },
    });
    const { steps: _steps, ...summary } = found;
    expect(await summarizeRun(engine, null, job)).toEqual(summary);
    rig.clock.advance(1_000);
    await reconcileJob(engine, job, { ...FINDING, outcome: 'failed', actor: 'bob' });
    expect(await readRun(engine, null, job)).toMatchObject({
      status: 'interrupted',
      version: before.version + 2,
      reconciliation: { outcome: 'failed', actor: 'bob' },
    });
    expect((await rig.store.load(job.spec.jobId)).found?.job.rev).toBe(job.rev);
    expect((await rig.app.evidence.verify(job.spec.jobId)).problem).toBeNull();
    expect(await listAudit(engine, { tenantId: job.spec.tenantId, limit: 9 })).toMatchObject([
      { action: 'reconcile_run', subject: job.spec.jobId, by: 'ann', reason: FINDING.reason },
      { action: 'reconcile_run', by: 'bob' },
    ]);
  });

  test('RST-15 it is told to those who hear of the run in these words, once', async () => {
    const { courier, bodies } = receiver();
    const { rig, job } = await interrupted(fresh, courier);
    const { engine } = Pawl.inside(rig.app);
    await rig.app.callbacks.subscribe({ url: 'https://a.example/' });
    await rig.app.callbacks.subscribe({ url: 'https://b.example/', contract: 'jobs' });
    await rig.app.callbacks.subscribe({ url: 'https://c.example/', tasks: ['other'] });
    await rig.app.callbacks.subscribe({ url: 'https://d.example/', events: ['step'] });
    await rig.app.callbacks.subscribe({ url: 'https://e.example/', tenantId: 'acme' });
    await reconcileJob(engine, job, FINDING);
    await rig.app.work({ lease: '10m', poll: '1s', stopOnSignal: false });
    await advanceUntil(rig.clock, () => bodies.length > 0);
    await rig.idle();
    const { reconciliation } = await readRun(engine, null, job);
    expect(bodies).toEqual([
      {
        run_id: job.spec.jobId,
        workflow_name: 'endless',
        status: 'interrupted',
        step: null,
        host: null,
        timestamp: reconciliation?.at,
        error: null,
        version: job.rev + 1,
      },
    ]);
  });

  test('RST-15 a run that is not interrupted is not reconciled, nor with a finding that says nothing', async () => {
    const { courier } = receiver();
    const { rig, job } = await interrupted(fresh, courier);
    const { engine } = Pawl.inside(rig.app);
    const queued = await (await rig.app.start(endless, null)).job.status();
    await expect(reconcileJob(engine, queued, FINDING)).rejects.toMatchObject({
      code: 'INVALID_TRANSITION',
      details: { from: 'queued' },
    });
    for (const option of ['outcome', 'reason', 'actor'])
      for (const said of ['', ' ', 'x'.repeat(1_001)])
        await expect(reconcileJob(engine, job, { ...FINDING, [option]: said })).rejects.toMatchObject({
          code: 'INVALID_OPTION',
          details: { option },
        });
    expect((await readRun(engine, null, job)).reconciliation).toBeNull();
  });

  test('RST-15 a finding goes with its job, and never counts for another of the same id', async () => {
    const { courier } = receiver();
    const { rig, job } = await interrupted(fresh, courier);
    const { engine } = Pawl.inside(rig.app);
    await reconcileJob(engine, job, FINDING);
    const later: Job = { ...job, createdAt: job.createdAt + 1 };
    expect((await summarizeRun(engine, null, later)).reconciliation).toBeNull();
    const sweep = retentionSweep(engine, { keep: '1h' });
    const findings = async () =>
      (await rig.store.records({ kind: 'finding', tenantId: null, after: null, limit: 9 })).records.length;
    rig.clock.advance(7_200_000);
    // Its dead letter is open, so that it stays.
    while (await sweep());
    expect(await findings()).toBe(1);
    const [letter] = await rig.app.deadLetters.list();
    await rig.app.deadLetters.askDiscard(letter?.dlqId ?? '', { by: 'ann', reason: 'seen' });
    await rig.app.deadLetters.approveDiscard(letter?.dlqId ?? '', { by: 'bob' });
    while (await sweep());
    expect((await rig.store.load(job.spec.jobId)).found).toBeNull();
    expect(await findings()).toBe(0);
  });
});
