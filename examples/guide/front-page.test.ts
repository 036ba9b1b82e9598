import { expect, test } from 'vitest';
import { crashAtEveryEvent } from '../../src/testkit/index.js';
import { order } from './front-page.js';
import config from './pawl.config.js';

test('GUA-5 README’s order survives a crash at every event, and is charged once', async () => {
  const { result, runs } = await crashAtEveryEvent(order, { id: '1001' }, { signals: { approval: true } });
  expect(result).toEqual({ paid: 'ch_400', approved: true });
  expect(runs.every(({ ended }) => ended === 'succeeded')).toBe(true);
});

test('README’s settings are settings', () => {
  expect(config).toEqual({ store: 'sqlite:pawl.db', tasks: ['tasks/**/*.ts'] });
});
