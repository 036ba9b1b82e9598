import { expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from './system-clock.js';

const DAY_MS = 86_400_000;

test('DEC-8 a timer of 30, 50 or 100 days fires when that has passed, and not at once', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  for (const days of [24, 30, 50, 100]) {
    const fired = vi.fn<() => void>();
    systemClock.after(days * DAY_MS, fired);
    vi.advanceTimersByTime(days * DAY_MS - 1);
    expect(fired).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(fired).toHaveBeenCalledOnce();
  }
});

test('a long timer can be cancelled, also when most of it has passed', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const fired = vi.fn<() => void>();
  const cancel = systemClock.after(60 * DAY_MS, fired);
  vi.advanceTimersByTime(55 * DAY_MS);
  cancel();
  cancel();
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(60 * DAY_MS);
  expect(fired).not.toHaveBeenCalled();
});
