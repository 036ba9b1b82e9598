import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { fakeClock } from '../testkit/fake-clock.js';
import { onceSilent } from './once-silent.js';

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

function listening() {
  const clock = fakeClock(0);
  const streams = [new PassThrough(), new PassThrough()] as const;
  const seen = { isOver: false };
  const cancel = onceSilent(clock, streams, () => void (seen.isOver = true));
  /** Half a second passes, and whatever is there is read. */
  const pass = async (): Promise<boolean> => {
    clock.advance(500);
    await turn();
    return seen.isOver;
  };
  return { clock, streams, seen, pass, cancel };
}

test('RST-13 a command that has ended is listened to until it has been silent for a while', async () => {
  const { clock, streams, pass } = listening();
  streams[0].write('one');
  await turn();
  expect(await pass()).toBe(false);
  streams[1].write('two');
  await turn();
  expect([await pass(), await pass()]).toEqual([false, true]);
  expect(clock.pending).toBe(0);
});

test('RST-13 what came while this process stood still is read before it stops listening', async () => {
  const { clock, streams, seen, pass } = listening();
  clock.advance(500);
  // It was there before the timer ran, and nobody had looked yet.
  streams[0].emit('data', 'late');
  await turn();
  expect(seen.isOver).toBe(false);
  expect(await pass()).toBe(true);
});

test('RST-13 whoever never falls silent is not listened to for ever', async () => {
  const { streams, pass } = listening();
  let rounds = 0;
  do {
    streams[0].emit('data', 'more');
    rounds += 1;
  } while (!(await pass()));
  expect(rounds).toBe(6);
});

test('RST-13 cancelled, it does nothing more, and leaves no timer', async () => {
  const { clock, pass, cancel } = listening();
  clock.advance(500);
  cancel();
  await turn();
  expect(await pass()).toBe(false);
  expect(clock.pending).toBe(0);
});
