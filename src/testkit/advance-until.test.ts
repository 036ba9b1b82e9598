import { expect, test } from 'vitest';
import { advanceUntil, fakeClock } from './index.js';

test('time moves from timer to timer until the condition holds, and no further', async () => {
  const clock = fakeClock(0);
  const ran: number[] = [];
  const again = (): void => {
    ran.push(clock.now());
    clock.after(100, again);
  };
  clock.after(100, again);
  await advanceUntil(clock, async () => ran.length === 3);
  expect(ran).toEqual([100, 200, 300]);
  expect(clock.now()).toBe(300);
});

test('what a timer sets off has run before the clock moves on', async () => {
  const clock = fakeClock(0);
  let seenAt: number | null = null;
  clock.after(10, () => void Promise.resolve().then(() => setImmediate(() => (seenAt = clock.now()))));
  clock.after(5_000, () => undefined);
  await advanceUntil(clock, () => seenAt !== null);
  expect(seenAt).toBe(10);
});

test('what cannot come true is an error, not a hang', async () => {
  const clock = fakeClock(0);
  await expect(advanceUntil(clock, () => false)).rejects.toThrow('no timer is left');
  const tick = (): void => void clock.after(1_000, tick);
  tick();
  await expect(advanceUntil(clock, () => false, { atMost: '5s' })).rejects.toThrow('after 5s');
  expect(clock.now()).toBe(5_000);
});

test('a promise is waited for, and its outcome handed on', async () => {
  const clock = fakeClock(0);
  const later = new Promise((resolve) => clock.after(86_400_000, () => resolve('tomorrow')));
  expect(await advanceUntil(clock, later)).toBe('tomorrow');
  const broken = new Promise((_resolve, reject) => clock.after(10, () => reject(new Error('broken'))));
  await expect(advanceUntil(clock, broken)).rejects.toThrow('broken');
});
