import { expect, test } from 'vitest';
import { advanceUntil, fakeClock } from './index.js';

test('time stands still until it is moved', () => {
  const clock = fakeClock(100);
  expect(clock.now()).toBe(100);
  clock.advance(50);
  expect(clock.now()).toBe(150);
});

test('timers run once, in the order of their time, each at its own', () => {
  const clock = fakeClock(0);
  const ran: string[] = [];
  clock.after(20, () => ran.push(`b at ${clock.now()}`));
  clock.after(10, () => ran.push(`a at ${clock.now()}`));
  clock.after(20, () => ran.push(`c at ${clock.now()}`));
  clock.advance(19);
  expect(ran).toEqual(['a at 10']);
  clock.advance(1);
  clock.advance(100);
  expect(ran).toEqual(['a at 10', 'b at 20', 'c at 20']);
});

test('a timer that is set by a timer runs in the same advance if it is due', () => {
  const clock = fakeClock(0);
  const ran: number[] = [];
  clock.after(10, () => {
    clock.after(5, () => ran.push(clock.now()));
    clock.after(-5, () => ran.push(clock.now()));
  });
  clock.advance(15);
  expect(ran).toEqual([10, 15]);
});

test('a cancelled timer never runs, and what is left is counted', () => {
  const clock = fakeClock(0);
  const cancel = clock.after(10, () => {
    throw new Error('cancelled timers do not run');
  });
  clock.after(500, () => undefined);
  expect(clock.pending).toBe(2);
  cancel();
  cancel();
  clock.advance(100);
  expect(clock.pending).toBe(1);
});

test('what is under way in the real world is counted, also if it fails, and can be waited for', async () => {
  const clock = fakeClock(0);
  await clock.idle();
  const ends: (() => void)[] = [];
  const answered = clock.during(() => new Promise<void>((resolve) => ends.push(resolve)));
  const failed = clock.during(
    () => new Promise<void>((_, reject) => ends.push(() => reject(new Error('no')))),
  );
  let idle = false;
  const rest = clock.idle().then(() => (idle = true));
  ends[1]?.();
  await expect(failed).rejects.toThrow('no');
  expect([clock.busy, idle]).toEqual([1, false]);
  ends[0]?.();
  await answered;
  await rest;
  expect(clock.busy).toBe(0);
});

test('time stands still while something of the real world is waited for', async () => {
  const clock = fakeClock(0);
  clock.after(10, () => undefined);
  let seenAt: number | null = null;
  const look = clock.during(() => new Promise((resolve) => setTimeout(resolve, 20)));
  void look.then(() => (seenAt = clock.now()));
  await advanceUntil(clock, () => seenAt !== null);
  expect(seenAt).toBe(0);
});
