import { expect, test } from 'vitest';
import { task } from '../../client/task.js';
import type { Store } from '../../ports/store.js';
import { memoryStore } from '../../stores/memory/memory-store.js';
import { fakeClock, T0, testApp } from '../../testkit/index.js';

test('RST-11 a job goes on though the store answers so slowly that what it has told of subscriptions is old by then', async () => {
  const clock = fakeClock(T0);
  const store = memoryStore({ clock });
  let asked = 0;
  const records: Store['records'] = async (filter) => {
    const found = await store.records(filter);
    if (filter.kind !== 'subscription') return found;
    asked += 1;
    if (asked < 20) clock.advance(3_000);
    return found;
  };
  const double = task({ name: 'double' }, ({ input }) => Number(input) * 2);
  const rig = await testApp({ tasks: [double], clock, store: { ...store, records } });
  const { job } = await rig.app.start(double, 4);
  expect(await rig.ended(job)).toMatchObject({ result: '8' });
  expect(asked).toBeLessThan(20);
  await rig.stop();
});
