import { expect, onTestFinished, test } from 'vitest';
import { task } from '../client/task.js';
import type { Store } from '../ports/store.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import { fakeClock, T0, testApp } from '../testkit/index.js';
import { createKey, findKey, keyOf, revokeKey } from './api-keys.js';
import { listAudit } from './audit.js';
import { prng } from '../testkit/prng.js';
import { httpCourier } from '../client/http-courier.js';
import { Engine } from './engine.js';

/** A store that saves, and whose answer gets lost: it is asked again, and says that somebody was faster. */
function forgetful(store: Store): Store {
  return {
    ...store,
    async putRecord(record, expected, mail) {
      await store.putRecord(record, expected, mail);
      return store.putRecord(record, expected, mail);
    },
    async putDlqItem(item) {
      await store.putDlqItem(item);
      return store.putDlqItem(item);
    },
  };
}

function engineOn(store: Store, clock: ReturnType<typeof fakeClock>): Engine {
  const none = () => undefined;
  const log = { debug: none, info: none, warn: none, error: none };
  return new Engine({ store, clock, random: prng(9), log, courier: httpCourier({ allowPrivate: false }) });
}

test('JOB-9 a discard whose answer got lost is done, and in the audit', async () => {
  const clock = fakeClock(T0);
  const store = forgetful(memoryStore({ clock }));
  const broken = task({ name: 'broken', retry: { maxRetries: 0 } }, () => {
    throw new Error('broken');
  });
  const rig = await testApp({ store, clock, tasks: [broken] });
  onTestFinished(() => rig.stop());
  await rig.ended((await rig.app.start(broken, null)).job);
  const { deadLetters } = rig.app;
  const dlqId = (await deadLetters.list())[0]?.dlqId ?? '';
  await deadLetters.askDiscard(dlqId, { by: 'ann', reason: 'test data' });
  clock.advance(1);
  expect(await deadLetters.approveDiscard(dlqId, { by: 'bob' })).toMatchObject({ status: 'discarded' });
  const actions = (await listAudit(engineOn(store, clock), { tenantId: 'default', limit: 9 })).map(
    ({ action, by }) => [action, by],
  );
  expect(actions).toEqual([
    ['ask_discard', 'operator:ann'],
    ['discard', 'operator:bob'],
  ]);
  await expect(deadLetters.approveDiscard(dlqId, { by: 'eve' })).rejects.toMatchObject({
    code: 'DLQ_REQUEUE_CONFLICT',
  });
});

test('a key that was made, or revoked, is so also where the answer got lost', async () => {
  const clock = fakeClock(T0);
  const engine = engineOn(forgetful(memoryStore({ clock })), clock);
  const asked = { tenantId: 'acme', role: 'viewer', name: 'ci', by: 'operator:ann' } as const;
  const { token, key } = await createKey(engine, asked);
  const { id } = key;
  expect(await keyOf(engine, token)).toMatchObject({ id });
  await expect(createKey(engine, { ...asked, id })).rejects.toMatchObject({ code: 'STORE_BUSY' });
  clock.advance(1);
  await revokeKey(engine, id, { tenantId: 'acme', by: 'operator:bob' });
  expect(await findKey(engine, id)).toMatchObject({ revokedAt: T0 + 1 });
  expect(await listAudit(engine, { tenantId: 'acme', limit: 9 })).toMatchObject([
    { action: 'create_key' },
    { action: 'revoke_key', by: 'operator:bob' },
  ]);
});
