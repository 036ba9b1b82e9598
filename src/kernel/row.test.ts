import { expect, test } from 'vitest';
import { aJobSpec, given, PASTS } from '../testkit/index.js';
import {
  behindTaskGate,
  holderLane,
  isHolderLane,
  laneOf,
  queueOf,
  rowOf,
  taskGateOf,
  taskOf,
  type Job,
  type JobSpec,
} from './index.js';

const gateOf = (spec: Partial<JobSpec>): string => {
  const job = given(PASTS.queued).job as Job;
  return rowOf({ ...job, spec: aJobSpec(spec) }).gate;
};

test('a job without a concurrency key has no gate; the empty key is the first gate of its task', () => {
  expect(gateOf({})).toBe('');
  for (const spec of [{ task: 'order' }, { task: 'order', queue: 'slow', version: '2' }]) {
    expect(gateOf({ ...spec, concurrencyKey: '' })).toBe(taskGateOf(laneOf(aJobSpec(spec))));
  }
});

test('all gates of a task stand together, and none of another among them', () => {
  const first = taskGateOf(laneOf(aJobSpec({ task: 'order' })));
  const isAmong = (gate: string) => gate >= first && gate < behindTaskGate(first);
  for (const concurrencyKey of ['', 'a', 'zz', '~', '\u{1f600}'])
    expect(isAmong(gateOf({ task: 'order', concurrencyKey }))).toBe(true);
  for (const task of ['orde', 'order ', 'order!', 'orders', 'order two', 'p'])
    expect(isAmong(gateOf({ task, concurrencyKey: 'a' }))).toBe(false);
});

test('a lane tells its queue and its task; what is no lane has no task', () => {
  const lane = laneOf({ queue: 'slow', task: 'order', version: '2' });
  expect([queueOf(lane), taskOf(lane)]).toEqual(['slow', 'order']);
  expect(taskOf('slow')).toBe('');
});

test('a worker’s lane is told from the lanes of jobs, whatever their queues are called', () => {
  expect(isHolderLane(holderLane({ worker: { id: 'w', incarnation: 'w.1' } }))).toBe(true);
  expect(isHolderLane(holderLane({ worker: null }))).toBe(true);
  expect(isHolderLane(laneOf({ queue: 'worker:w.1', task: 'order', version: null }))).toBe(false);
  expect(isHolderLane('mine')).toBe(false);
});
