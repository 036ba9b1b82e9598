/**
 * A job that sleeps for thirty days, in milliseconds: `node .build/examples/thirty-day-sleep.js`.
 *
 * Time is a fake clock, which stands still until it is moved. In the middle of the sleep the process that started the
 * job is gone, and another one opens the same file: the job neither notices nor wakes up early.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pawl, task, type HandlerContext } from '../src/index.js';
import { advanceUntil, fakeClock } from '../src/testkit/index.js';

const folder = process.argv[2] ?? mkdtempSync(join(tmpdir(), 'pawl-sleep-'));
const DAY = 86_400_000;
const began = performance.now();
const clock = fakeClock(Date.UTC(2026, 0, 1));
const today = (): string => new Date(clock.now()).toISOString().slice(0, 10);

const trial = task({ name: 'trial' }, async ({ input, step }: HandlerContext<{ user: string }>) => {
  await step.run('welcome', () => console.log(`${today()}  Welcome, ${input.user}! Thirty days are yours.`));
  await step.sleep('trial', '30d');
  const ended = await step.now();
  await step.run('goodbye', () => console.log(`${today()}  ${input.user}, your trial has ended.`));
  return { endedOn: new Date(ended).toISOString().slice(0, 10) };
});

/** A process: it opens the store, and works until it is closed. */
async function boot() {
  const app = await pawl({ store: `sqlite:${join(folder, 'pawl.db')}`, tasks: [trial], clock });
  // Polls and heartbeats follow the fake clock too: rare ones leave little to skip through.
  await app.work({ poll: '1h', lease: '90d' });
  return app;
}

const first = await boot();
const { job } = await first.start(trial, { user: 'Ada' });
await advanceUntil(clock, async () => (await job.status()).status === 'waiting');
console.log(`${today()}  ${(await job.why()).sentence}`);

await advanceUntil(clock, () => clock.now() >= Date.UTC(2026, 0, 15));
await first.close();
console.log(`${today()}  The process is gone.`);

clock.advance(2 * DAY);
const second = await boot();
console.log(`${today()}  Another one is here. ${(await second.why(job.id)).sentence}`);

const same = second.job<{ endedOn: string }>(job.id);
await advanceUntil(clock, async () => (await same.status()).status === 'succeeded');
console.log(`${today()}  ${JSON.stringify(await same.result())}`);
await second.close();
console.log(`That took ${Math.round(performance.now() - began)} ms.`);
