/**
 * A remote worker beside a local one, on the same kind of store in the same run: `npm run bench:remote`, or with `-- 5000` jobs.
 * Server and remote worker share this process and its one thread, so the ratios are the worst that a machine can show.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve } from '../../src/http/serve.js';
import { pause } from '../harness/pause.js';
import { median } from '../harness/statistics.js';
import { pawl, task, type HandlerContext, type Pawl } from '../../src/index.js';

const jobs = Number(process.argv[2] ?? 2_000);
const STEPS = 200;
const ROUNDS = 3;
const folder = mkdtempSync(join(tmpdir(), 'pawl-bench-remote-'));
let opened = 0;

const noop = task({ name: 'noop' }, () => null);
const steps = task({ name: 'steps' }, async ({ input, step }: HandlerContext<number>) => {
  for (let n = 0; n < input; n++) await step.run('one', () => n);
  return input;
});

type Measure = { readonly jobsPerSecond: number; readonly msPerStep: number };

async function measure(starter: Pawl, worker: Pawl): Promise<Measure> {
  const all = await starter.startMany(
    noop,
    Array.from({ length: jobs }, () => ({ input: undefined })),
  );
  const beganAt = performance.now();
  await worker.work({ concurrency: 200, stopOnSignal: false });
  const last = all.at(-1)?.job.id ?? '';
  await Promise.all([starter.job(last).result(), untilDone(starter)]);
  const jobsPerSecond = jobs / ((performance.now() - beganAt) / 1_000);
  const { job } = await starter.start(steps, STEPS);
  const stepsAt = performance.now();
  await job.result();
  return { jobsPerSecond, msPerStep: (performance.now() - stepsAt) / STEPS };
}

async function untilDone(app: Pawl): Promise<void> {
  while (((await app.counts()).succeeded ?? 0) < jobs) await pause(5);
}

async function local(): Promise<Measure> {
  const app = await pawl({ store: `sqlite:${join(folder, `${++opened}.db`)}`, tasks: [noop, steps] });
  try {
    return await measure(app, app);
  } finally {
    await app.close();
  }
}

async function remote(): Promise<Measure> {
  const server = await pawl({ store: `sqlite:${join(folder, `${++opened}.db`)}` });
  const serving = await serve(server, { port: 0 });
  const app = await pawl({ store: serving.url, tasks: [noop, steps] });
  try {
    return await measure(server, app);
  } finally {
    await app.close();
    await serving.close();
    await server.close();
  }
}

try {
  const beside: Measure[] = [];
  const through: Measure[] = [];
  // In turn, so that whatever else the machine does falls on both.
  for (let round = 0; round < ROUNDS; round++) {
    beside.push(await local());
    through.push(await remote());
  }
  const rate = (all: readonly Measure[]) => median(all.map(({ jobsPerSecond }) => jobsPerSecond));
  const perStep = (all: readonly Measure[]) => median(all.map(({ msPerStep }) => msPerStep));
  console.log(`SQLite, ${jobs} jobs that do nothing, one job of ${STEPS} steps, middle of ${ROUNDS} rounds`);
  console.log(
    `  beside the store     ${rate(beside).toFixed(0)} jobs/s   ${perStep(beside).toFixed(2)} ms/step`,
  );
  console.log(
    `  through a server     ${rate(through).toFixed(0)} jobs/s   ${perStep(through).toFixed(2)} ms/step`,
  );
  console.log(
    `  through : beside     ${(rate(through) / rate(beside)).toFixed(2)}          ${(perStep(through) / perStep(beside)).toFixed(2)}`,
  );
} finally {
  rmSync(folder, { recursive: true });
}
