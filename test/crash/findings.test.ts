import { expect, test } from 'vitest';
import { findings } from './crash-everywhere.js';
import type { CrashRun } from './crash-lane.js';

const run: CrashRun = {
  kills: ['charge entered 1', 'charge happened 1'],
  traces: [],
  problems: [],
  missed: null,
  disturbed: false,
  decided: [],
  sightings: [],
  events: [],
};

test('GUA-4 a run that was never looked at in full is no run that went well', () => {
  expect(findings([run])).toEqual([]);
  const killed = 'killed charge entered 1, then charge happened 1';
  expect(findings([{ ...run, missed: 'charge happened 1' }])).toEqual([
    `${killed}: 'charge happened 1' was never reached`,
  ]);
  expect(findings([{ ...run, disturbed: true }])).toEqual([
    `${killed}: a worker that nobody killed lost its lease each time: questions and decisions were not checked`,
  ]);
});
