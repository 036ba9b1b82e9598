import { expect, test } from 'vitest';
import { PawlError } from '../index.js';
import { advanceUntil } from '../testkit/advance-until.js';
import { fakeClock } from '../testkit/fake-clock.js';
import { whenClaimed } from './when-claimed.js';

function asked(answers: (number | null | Error)[]) {
  const clock = fakeClock(0);
  const control = new AbortController();
  const claimedAt = async (): Promise<number | null> => {
    const answer = answers.shift() ?? null;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { clock, control, claimed: whenClaimed({ clock, signal: control.signal, claimedAt }) };
}

const outage = (): PawlError => new PawlError('STORE_UNAVAILABLE', { detail: 'it does not answer' });

test('RST-13 when a run was claimed is asked through an outage, and once only', async () => {
  const { clock, claimed } = asked([outage(), outage(), 7]);
  const both = Promise.all([claimed(), claimed()]);
  expect(await advanceUntil(clock, both)).toEqual([7, 7]);
  expect([clock.elapsed(), clock.pending]).toEqual([2_000, 0]);
});

test('RST-13 it is not asked for any more once the run is another’s', async () => {
  await expect(asked([null]).claimed()).rejects.toThrow('no longer carried out here');
  await expect(asked([new Error('a bug')]).claimed()).rejects.toThrow('a bug');
  const { clock, control, claimed } = asked([outage(), 7]);
  const answer = claimed();
  control.abort(new Error('lost'));
  await expect(advanceUntil(clock, answer)).rejects.toThrow('lost');
});
