import { median } from '../harness/statistics.js';
import { Recorder } from '../workloads/system.js';
import type { Figures, Ground } from '../workloads/workload.js';
import { pawlSystem } from './pawl-system.js';

const SHORT = 10;
/** Steps that stand for "at step n": the last ones up to it. Of short jobs, as many are run as it takes. */
const WINDOW = 100;

/** What one step costs in jobs of 10 steps, and at the end of longer and longer ones. */
export async function history({ urls: [url], size }: Ground): Promise<Figures> {
  const recorder = new Recorder();
  const system = await pawlSystem(url, recorder);
  await system.work('steps');
  let jobs = 0;
  const run = async (steps: number): Promise<number[]> => {
    recorder.stepMs.length = 0;
    jobs += 1;
    await system.start('steps', `${steps}`);
    await recorder.until(jobs);
    return recorder.stepMs.slice(-WINDOW);
  };
  const short = async (): Promise<number[]> => {
    const all: number[] = [];
    while (all.length < WINDOW) all.push(...(await run(SHORT)));
    return all;
  };
  // Once to warm up; then before and after the long ones, so that a slower hour is not taken for a longer history.
  await run(2 * WINDOW);
  const atTen = await short();
  const found: Record<string, number> = {};
  for (let length = SHORT * 10; length <= size; length *= 10) {
    found[`ms at step ${length}`] = median(await run(length));
  }
  const last = found[`ms at step ${size}`] ?? Number.NaN;
  const base = median([...atTen, ...(await short())]);
  await system.close();
  return { 'ms at step 10': base, ...found, 'last to 10': last / base };
}
