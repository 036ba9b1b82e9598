import { expect, onTestFinished, test } from 'vitest';
import { goOn } from '../../test/go-on.js';
import { Pawl } from '../client/app.js';
import { cannotTell, effect, happened } from '../client/effect.js';
import { task } from '../client/task.js';
import { testApp } from '../testkit/index.js';

test('GUA-4 an effect that a going-on job takes over is not counted as entered once more', async () => {
  let works = false;
  const entered: string[] = [];
  const charge = effect<string, string>({ name: 'charge', run: (what) => (entered.push(what), what) });
  const pay = effect<null, string>({
    name: 'pay',
    onUnknown: 'fail',
    settle: '1m',
    run: () => {
      entered.push('pay');
      throw new Error('connection reset');
    },
    reconcile: () => (works ? happened('paid') : cannotTell()),
  });
  const order = task({ name: 'order', retry: { maxRetries: 0 } }, async ({ step }) => {
    await step.effect('stamp', charge, 'stamp');
    // Two at once: what is entered beside one that is taken over counts.
    const both = [step.effect('pay', pay, null)];
    if (works) both.push(step.effect('label', charge, 'label'));
    return Promise.all(both);
  });
  const rig = await testApp({ tasks: [order] });
  onTestFinished(() => rig.stop());
  const counts = () => Object.fromEntries(Pawl.inside(rig.app).engine.meters.effects.counts);
  const { job } = await rig.app.start(order, null);
  expect((await rig.ended(job)).status).toBe('failed');
  const before = counts();
  expect(before).toMatchObject({ entered: 2, recorded: 1 });
  works = true;
  expect(await rig.ended(await goOn(rig, job))).toMatchObject({ result: '["paid","label"]' });
  expect(entered).toEqual(['stamp', 'pay', 'label']);
  expect(counts()).toMatchObject({ entered: 3, recorded: 2 });
});
