import { expect, test } from 'vitest';
import { encodeEvents, type Event } from '../kernel/index.js';
import type { LogRow, Store } from '../ports/store.js';
import { claimedBy, created, event, waitingFor } from '../testkit/index.js';
import { JobHistories } from './job-histories.js';
import { readTogether } from './read-together.js';

const WAITED: readonly (readonly Event[])[] = [
  created(),
  [claimedBy('worker-a')],
  [waitingFor({ key: 'go', step: 'go' })],
];

/** A store that has nothing but logs, and tells from where on it was asked for them. */
function logsOnly(): {
  readonly store: Store;
  readonly logs: Map<string, readonly LogRow[]>;
  readonly asked: number[];
} {
  const logs = new Map<string, readonly LogRow[]>();
  const asked: number[] = [];
  const log: Store['log'] = async (jobId, { fromRev, limit }) => {
    asked.push(fromRev);
    const rows = (logs.get(jobId) ?? []).filter(({ rev }) => rev >= fromRev).slice(0, limit);
    return { now: 0, rows };
  };
  return { store: { log } as Store, logs, asked };
}

const logOf = (name: string, commits: readonly (readonly Event[])[]): LogRow[] =>
  commits.map((events, i) => ({
    jobId: 'job',
    rev: i + 1,
    commandId: `${name}:${i}`,
    body: encodeEvents(events),
    link: `${name}:${i}`,
  }));

test('a log that was read is read on from where it ended', async () => {
  const { store, logs, asked } = logsOnly();
  const histories = new JobHistories(store);
  expect(await histories.read('job')).toBeNull();
  expect(await histories.remembered('job')).toBeNull();
  logs.set('job', logOf('a', WAITED));
  expect((await histories.read('job'))?.steps.waitFor('go')).toMatchObject({ outcome: null });
  const received = event('wait.completed', { wait: waitOf(WAITED), outcome: 'received', payload: '"large"' });
  logs.set('job', logOf('a', [...WAITED, [received]]));
  const known = await histories.remembered('job');
  expect(known?.job).toMatchObject({ rev: 4, status: 'unblocked' });
  expect(known?.steps.waitFor('go')).toMatchObject({ outcome: 'received', payload: null });
  expect(asked).toEqual([1, 1, 3]);
});

test('a job that took the id of another after its purge is not taken for it', async () => {
  const { store, logs } = logsOnly();
  const histories = new JobHistories(store);
  logs.set('job', logOf('a', WAITED));
  await histories.read('job');
  logs.set('job', logOf('b', [created(), [claimedBy('worker-a')], [event('job.succeeded')]]));
  const other = await histories.remembered('job');
  expect(other?.job.status).toBe('succeeded');
  expect(other?.steps.waitFor('go')).toBeUndefined();
  logs.delete('job');
  expect(await histories.remembered('job')).toBeNull();
});

test('what was used longest ago makes room', async () => {
  const { store, logs } = logsOnly();
  const histories = new JobHistories(store, 5_000);
  for (const jobId of ['a', 'b', 'c', 'd']) {
    logs.set(jobId, logOf(jobId, [created()]));
    await histories.read(jobId);
    await histories.read('a');
  }
  expect(await histories.remembered('b')).toBeNull();
  expect(await histories.remembered('a')).not.toBeNull();
  expect(await histories.remembered('d')).not.toBeNull();
});

test('those who ask while a read is under way share the next, also if it fails', async () => {
  const ends: (() => void)[] = [];
  let begun = 0;
  const read = readTogether(async () => {
    const mine = (begun += 1);
    await new Promise<void>((resolve) => ends.push(resolve));
    if (mine === 1) throw new Error('the first');
    return mine;
  });
  const first = read();
  const second = read();
  const third = read();
  expect(begun).toBe(1);
  ends[0]?.();
  await expect(first).rejects.toThrow('the first');
  await Promise.resolve();
  ends[1]?.();
  expect(await Promise.all([second, third])).toEqual([2, 2]);
});

function waitOf(commits: readonly (readonly Event[])[]) {
  const begun = commits.flat().find((one) => one.type === 'wait.begun');
  const [wait] = begun?.waits ?? [];
  if (wait === undefined) throw new Error('nothing is waited for');
  return wait;
}
