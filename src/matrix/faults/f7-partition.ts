import type { Fault, Strike } from '../fault.js';
import { whyNoProxy } from '../ground.js';
import { LEASE_MS, type Trial } from '../trial.js';
import type { ProxyState } from '../tcp-proxy.js';
import { fateOf, thaw } from './thaw.js';

/** How the way between worker and server fails, and within which body that finds the worker. */
const WAYS: readonly { readonly way: Exclude<ProxyState, 'open'>; readonly hold: 'quote' | 'charge' }[] = [
  { way: 'cut', hold: 'charge' },
  { way: 'stalled', hold: 'quote' },
  { way: 'black hole', hold: 'charge' },
  { way: 'cut', hold: 'quote' },
  { way: 'stalled', hold: 'charge' },
];

/** A connection on which nothing is heard for so long is given up; the default is longer than anybody wants to wait here. */
const SILENCE_MS = 2_000;

export const partition: Fault = {
  id: 'F7',
  variants: WAYS.length,
  instead: { sqlite: 'a file has no network: the worker is frozen (SIGSTOP) for three leases, then goes on' },
  impossible: ({ kind, url }) => (kind === 'sqlite' ? null : whyNoProxy(url)),
  strike: (trial) => (trial.ground.kind === 'sqlite' ? frozen(trial) : cutOff(trial)),
};

/** The worker is cut off within the tool; another takes over; then the way is open again, and it is alone. */
async function cutOff(trial: Trial): Promise<Strike> {
  const { way, hold } = trial.pick(WAYS);
  const { proxy, url } = await trial.ground.behindProxy();
  const silent = new URL(url);
  silent.searchParams.set('silence_ms', String(SILENCE_MS));
  const victim = await trial.work({ hold, url: silent.toString() });
  const job = await trial.order();
  await trial.entered(job, hold);
  proxy.become(way);
  victim.release();
  const other = await trial.work();
  await trial.finish();
  await trial.pass(LEASE_MS);
  proxy.become('open');
  await other.process.kill();
  // By itself: it finds its way back, and does what comes next.
  await trial.order();
  await trial.finish();
  const problems: ['G1', string][] = victim.process.isGone
    ? [['G1', 'the worker that was cut off ended']]
    : [];
  return { how: `${way}: ${proxy.struck} connections struck; the worker came back by itself`, problems };
}

async function frozen(trial: Trial): Promise<Strike> {
  const at = 'before commit effect.recorded:charge 1';
  const victim = await trial.work({ at, by: 'SIGSTOP' });
  await trial.order();
  await trial.struck(victim, at);
  const other = await trial.work();
  await trial.finish();
  await trial.pass(3 * LEASE_MS);
  await thaw(trial, { zombie: victim, at });
  const { words, problems } = fateOf(victim, at);
  await other.process.kill();
  await trial.order();
  await trial.finish();
  return { how: `frozen for three leases; then ${words}; it went on by itself`, problems };
}
