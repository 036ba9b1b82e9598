/**
 * A parent with a thousand children: `node .build/examples/fan-out.js [folder] [children]`.
 *
 * The parent asks for all of them at once and then waits without holding a worker. Each child is a job of its own, with
 * its own retries: every hundredth of them fails at first, and the parent never hears of it.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pawl, task, type HandlerContext } from '../src/index.js';

const folder = process.argv[2] ?? mkdtempSync(join(tmpdir(), 'pawl-fan-out-'));
const children = Number(process.argv[3] ?? 1_000);

let done = 0;
let failed = 0;

const square = task(
  { name: 'square', retry: { maxRetries: 2, baseMs: 10, jitterMs: 0 } },
  ({ input, job }: HandlerContext<number>) => {
    if (input % 100 === 0 && job.attempt === 1) {
      failed += 1;
      throw new Error('out of luck');
    }
    done += 1;
    return input * input;
  },
);

const sumOfSquares = task({ name: 'sum-of-squares' }, async ({ input, step }: HandlerContext<number>) => {
  const numbers = Array.from({ length: input }, (_, index) => index + 1);
  const squares = await Promise.all(numbers.map((number) => step.call('square', square, number)));
  return squares.reduce((sum, one) => sum + one, 0);
});

const app = await pawl({ store: `sqlite:${join(folder, 'pawl.db')}`, tasks: [square, sumOfSquares] });
await app.work({ concurrency: 200 });

const began = performance.now();
const seconds = (): string => ((performance.now() - began) / 1_000).toFixed(2);
const progress = setInterval(() => console.log(`  ${seconds()} s: ${done} of ${children} squares`), 250);

console.log(`One parent, ${children} children.`);
const { job } = await app.start(sumOfSquares, children);
const sum = await job.result({ timeout: '2m' });
clearInterval(progress);

const expected = (children * (children + 1) * (2 * children + 1)) / 6;
console.log(`  ${seconds()} s: the sum is ${sum}, as it should be: ${sum === expected}.`);
console.log(`  ${failed} attempts failed on the way; every child succeeded in the end.`);
await app.close();
