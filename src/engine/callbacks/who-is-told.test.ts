import { expect, onTestFinished, test } from 'vitest';
import { newCluster } from '../../../test/new-cluster.js';
import { effect } from '../../client/effect.js';
import { task } from '../../client/task.js';
import type { Courier } from '../../ports/courier.js';
import { memoryStore } from '../../stores/memory/memory-store.js';
import { advanceUntil, fakeClock, T0, testApp } from '../../testkit/index.js';

function receiver() {
  const heard: Record<string, unknown>[] = [];
  const courier: Courier = {
    check: async () => undefined,
    async deliver({ body }) {
      heard.push(JSON.parse(body) as Record<string, unknown>);
      return { status: 204 };
    },
  };
  return { courier, heard };
}

test('RST-11 a subscription made elsewhere is heard of within two seconds, however seldom a worker polls', async () => {
  const { courier, heard } = receiver();
  const { clock, store } = newCluster();
  const long = task({ name: 'long' }, ({ step }) =>
    step.run('work', () => new Promise<void>((resolve) => void clock.after(5_000, resolve))),
  );
  const rigs = [
    await testApp({ tasks: [long], clock, store, courier, work: { poll: '30s', lease: '30s' } }),
    await testApp({ tasks: [long], clock, store, courier, work: false, seed: 2 }),
  ] as const;
  onTestFinished(async () => {
    for (const rig of rigs) await rig.stop();
  });
  const [worker, client] = rigs;
  const { job } = await client.app.start(long, null);
  await advanceUntil(clock, async () => (await job.status()).status === 'running');
  await client.app.callbacks.subscribe({ url: 'https://a.example/hook' });
  await worker.ended(worker.app.job(job.id));
  await advanceUntil(clock, () => heard.length > 0, { atMost: '5m' });
  expect(heard).toMatchObject([{ status: 'success' }]);
});

test.each([
  ['run-state', ['queued', 'running', 'success'], 3],
  ['guarantees', ['tool_invocation_started', 'tool_invocation_finished'], 50],
] as const)(
  'RST-11 effects are told of where a contract has words for them: %s',
  async (contract, words, letters) => {
    const { courier, heard } = receiver();
    const clock = fakeClock(T0);
    const inner = memoryStore({ clock });
    const ids = new Set<string>();
    const takeOutbox: typeof inner.takeOutbox = async (page) => {
      const taken = await inner.takeOutbox(page);
      for (const { entryId } of taken.entries) ids.add(entryId);
      return taken;
    };
    const ping = effect({ name: 'ping', run: () => 1 });
    const many = task({ name: 'many' }, async ({ step }) => {
      for (let n = 0; n < 20; n++) await step.effect(`ping-${n}`, ping, null);
    });
    const rig = await testApp({ tasks: [many], clock, store: { ...inner, takeOutbox }, courier });
    onTestFinished(() => rig.stop());
    await rig.app.callbacks.subscribe({ url: 'https://a.example/hook', contract });
    await rig.ended((await rig.app.start(many, null)).job);
    await advanceUntil(clock, () => words.every((word) => JSON.stringify(heard).includes(word)));
    expect(ids.size).toBeLessThanOrEqual(letters);
  },
);

test('RST-11 a step that was under way when its run was cancelled is told of as interrupted, others are not', async () => {
  const { courier, heard } = receiver();
  const asks = task({ name: 'asks' }, async ({ step }) => {
    await step.run('look', () => 1);
    await step.waitFor('answer');
  });
  const rig = await testApp({ tasks: [asks], courier });
  onTestFinished(() => rig.stop());
  await rig.app.callbacks.subscribe({ url: 'https://a.example/hook', events: ['step'] });
  const { job } = await rig.app.start(asks, null);
  await advanceUntil(rig.clock, async () => (await job.status()).status === 'waiting');
  await job.cancel();
  await advanceUntil(rig.clock, () => heard.length === 3);
  expect(heard.map(({ step, status }) => [step, status])).toEqual([
    ['look', 'success'],
    ['answer', 'running'],
    ['answer', 'interrupted'],
  ]);
});
