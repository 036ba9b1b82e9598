import { Meter } from '../harness/meter.js';
import { pause } from '../harness/pause.js';
import { median, quantile, secondsOf } from '../harness/statistics.js';
import { startElsewhere } from '../harness/start-elsewhere.js';
import { WARM_UP, warmUp } from '../harness/warm-up.js';
import { Recorder, type Kind, type OpenSystem, type System } from './system.js';
import type { Figures, Ground, Measures } from './workload.js';

const CALLERS = 100;
const BULK = 1_000;

/** The workloads that every system does, written once for all. */
export function sixWorkloads(open: OpenSystem, subject: string): Measures {
  return {
    'single-starts': (ground) => singleStarts(open, ground),
    'bulk-starts': (ground) => bulkStarts(open, ground),
    drain: (ground) => drain(open, ground, 'noop'),
    'five-steps': (ground) => drain(open, ground, 'five-steps'),
    step: (ground) => sequentialSteps(open, ground),
    'pick-up': (ground) => pickUp(open, ground, subject),
  };
}

/** Each caller waits for its own start before the next. */
async function singleStarts(open: OpenSystem, { urls: [url], size, warmUpMs }: Ground): Promise<Figures> {
  const system = await open(url, new Recorder(), 'throughput');
  if (system.startLater) await system.work('noop');
  const callers = async (each: number) => {
    const caller = async () => {
      for (let n = 0; n < each; n++) await system.start('noop', `${n}`);
    };
    await Promise.all(Array.from({ length: CALLERS }, caller));
  };
  const each = Math.ceil(size / CALLERS);
  await warmUp(warmUpMs, () => secondsOf(() => callers(Math.ceil(each * WARM_UP))));
  const meter = await Meter.open(url);
  const seconds = await secondsOf(() => callers(each));
  const spent = await meter.perJob(each * CALLERS);
  await system.close();
  return { 'starts/s': (each * CALLERS) / seconds, ...spent };
}

async function bulkStarts(open: OpenSystem, { urls: [url], size, warmUpMs }: Ground): Promise<Figures> {
  const system = await open(url, new Recorder(), 'throughput');
  if (system.startLater) await system.work('noop');
  await warmUp(warmUpMs, () => secondsOf(() => startAll(system, 'noop', Math.ceil(size * WARM_UP))));
  const meter = await Meter.open(url);
  const seconds = await secondsOf(() => startAll(system, 'noop', size));
  const spent = await meter.perJob(size);
  await system.close();
  return { 'bulk starts/s': size / seconds, ...spent };
}

/** The backlog is there before the worker is, which remembers nothing of it: unless the store is this process's memory. */
async function drain(
  open: OpenSystem,
  { urls: [url, other], size, warmUpMs }: Ground,
  kind: 'noop' | 'five-steps',
): Promise<Figures> {
  const warm = Math.ceil(size * WARM_UP);
  await warmUp(warmUpMs, async () => (await drainOnce(open, other, warm, kind)).seconds);
  const { seconds, spent } = await drainOnce(open, url, size, kind);
  return { [kind === 'noop' ? 'jobs/s' : '5-step jobs/s']: size / seconds, ...spent };
}

async function drainOnce(
  open: OpenSystem,
  url: string,
  size: number,
  kind: 'noop' | 'five-steps',
): Promise<{ seconds: number; spent: Figures }> {
  const recorder = new Recorder();
  let system = await open(url, recorder, 'throughput');
  const { startLater } = system;
  if (startLater) await fillLater({ ...system, startLater }, kind, size);
  else {
    await startAll(system, kind, size);
    if (url !== 'memory:') {
      await system.close();
      system = await open(url, recorder, 'throughput');
    }
  }
  const meter = await Meter.open(url);
  const seconds = await secondsOf(async () => {
    if (!startLater) await system.work(kind);
    await recorder.until(size);
    while ((await system.left()) > 0) await pause(5);
  });
  const spent = await meter.perJob(size);
  await system.close();
  return { seconds, spent };
}

/** What a start may take, by which it is reckoned when the backlog is due. */
const MOST_START_MS = 3;
const LEAST_DELAY_MS = 1_000;

/** Starts all of a backlog before any of it is due, and returns when it is. */
async function fillLater(
  system: System & Pick<Required<System>, 'startLater'>,
  kind: Kind,
  size: number,
): Promise<void> {
  await system.work(kind);
  const dueAt = performance.now() + size * MOST_START_MS + LEAST_DELAY_MS;
  const later: System = {
    ...system,
    start: (asked, input) => system.startLater(asked, input, dueAt - performance.now()),
  };
  await startAll(later, kind, size);
  const leftMs = dueAt - performance.now();
  if (leftMs < 0) throw new Error(`${size} jobs could not be started in ${size * MOST_START_MS} ms`);
  await pause(leftMs);
}

async function sequentialSteps(open: OpenSystem, { urls: [url], size, warmUpMs }: Ground): Promise<Figures> {
  const recorder = new Recorder();
  const system = await open(url, recorder, 'throughput');
  await system.work('steps');
  let jobs = 0;
  const run = async (steps: number) => {
    recorder.stepMs.length = 0;
    await system.start('steps', `${steps}`);
    await recorder.until((jobs += 1));
  };
  await warmUp(warmUpMs, () => secondsOf(() => run(Math.ceil(size * WARM_UP))));
  await run(size);
  const all = [...recorder.stepMs];
  await system.close();
  return { 'ms/step': all.reduce((sum, ms) => sum + ms, 0) / all.length, 'ms/step p50': median(all) };
}

/** The inputs are times of the machine's one monotonic clock, taken by the starter before it starts. */
async function pickUp(
  open: OpenSystem,
  { urls: [url], size, warmUpMs }: Ground,
  subject: string,
): Promise<Figures> {
  const tookMs: number[] = [];
  const recorder = new Recorder((input) => {
    tookMs.push(Number(process.hrtime.bigint() - BigInt(input)) / 1e6);
  });
  const system = await open(url, recorder, 'latency');
  await system.work('noop');
  const starter = await startElsewhere({ subject, url, count: size, warmUpMs });
  await recorder.until(await starter.ended);
  await system.close();
  const measured = tookMs.slice(-size);
  return { 'p50 ms': quantile(measured, 0.5), 'p99 ms': quantile(measured, 0.99) };
}

export async function startAll(system: System, kind: Kind, count: number): Promise<void> {
  for (let from = 0; from < count; from += BULK) {
    const inputs = Array.from({ length: Math.min(BULK, count - from) }, (_, n) => `${from + n}`);
    if (system.startMany) await system.startMany(kind, inputs);
    else await Promise.all(inputs.map((input) => system.start(kind, input)));
  }
}
