/**
 * How fast the kernel decides: `npm run bench:kernel`.
 *
 * A step is one command decided and its events folded into the job. Three workloads: the life of a plain job, jobs
 * with many recorded steps, and random commands in random states, refusals included. Hashing is injected into the
 * kernel, so it is measured apart.
 *
 * The bar is a million steps per second on one core, for the median of the rounds. The best round stands beside it:
 * whoever else uses the machine only ever slows a round down, so the two tell a slow hour from a slow kernel. SHA-256
 * digests of short messages are measured between the rounds, as a yardstick for comparing machines.
 */
import { createHash } from 'node:crypto';
import {
  chainLink,
  CHAIN_START,
  decide,
  decodeEvents,
  encodeEvents,
  evolve,
  StepLog,
  type Command,
  type Job,
} from '../src/kernel/index.js';
import { median } from './harness/statistics.js';
import { command, prng, randomHistory, type RandomHistory } from '../src/testkit/index.js';

const BAR = 1_000_000;
const ROUNDS = 15;

function apply(job: Job | null, given: Command, steps: StepLog): Job | null {
  const decision = decide(job, given, steps);
  if (!decision.ok) return job;
  let next = job;
  for (const event of decision.events) {
    steps.apply(next, event);
    next = evolve(next, event);
  }
  return next;
}

const LIFE: readonly Command[] = [
  command('create'),
  command('claim'),
  command('record-step'),
  command('begin-effect'),
  command('record-effect'),
  command('complete'),
];

const RECORDS: readonly Command[] = Array.from({ length: 10_000 }, (_, i) =>
  command('record-step', { occurrence: i + 1 }),
);

const WORKLOADS: Record<string, () => number> = {
  'life of a job (create, claim, step, effect, complete)': () => {
    const jobs = 100_000;
    for (let i = 0; i < jobs; i++) {
      const steps = new StepLog();
      let job: Job | null = null;
      for (const next of LIFE) job = apply(job, next, steps);
      if (job?.status !== 'succeeded') throw new Error('the job did not finish');
    }
    return jobs * LIFE.length;
  },
  '20 jobs of 10,000 recorded steps': () => {
    for (let n = 0; n < 20; n++) {
      const steps = new StepLog();
      let job = apply(apply(null, command('create'), steps), command('claim'), steps);
      for (const next of RECORDS) job = apply(job, next, steps);
      if (steps.size !== 10_000) throw new Error('steps are missing');
    }
    return 200_000;
  },
  'random commands in random states, refusals included': () => {
    // Few enough to stay small in memory, or the collector is measured instead.
    random ??= Array.from(
      { length: 200 },
      (_, seed) => randomHistory(prng(seed), { commands: 60 }).answers,
    ).flat();
    for (let round = 0; round < 20; round++) {
      for (const { before, command: given } of random) {
        const decision = decide(before, given, NO_STEPS);
        const first = decision.ok ? decision.events[0] : undefined;
        if (first) evolve(before, first);
      }
    }
    return random.length * 20;
  },
};

const NO_STEPS = new StepLog();
let random: RandomHistory['answers'] | undefined;

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const commits = randomHistory(prng(7), { commands: 400 }).commits;
const bodies = commits.map(({ events }) => encodeEvents(events));

const APART: Record<string, () => number> = {
  'encode a commit': () =>
    repeat(200, () => commits.forEach(({ events }) => encodeEvents(events)), commits.length),
  'decode a commit': () => repeat(200, () => bodies.forEach((body) => decodeEvents(body)), bodies.length),
  'link a commit (SHA-256)': () =>
    repeat(
      200,
      () =>
        bodies.forEach((body, i) =>
          chainLink(sha256, CHAIN_START, { jobId: 'j', rev: i, commandId: null, body }),
        ),
      bodies.length,
    ),
};

function repeat(times: number, run: () => void, count: number): number {
  for (let i = 0; i < times; i++) run();
  return times * count;
}

type Rate = { readonly median: number; readonly best: number; readonly perDigest: number };

function perSecond(run: () => number): number {
  const start = process.hrtime.bigint();
  const count = run();
  return count / (Number(process.hrtime.bigint() - start) / 1e9);
}

function digests(): number {
  for (let i = 0; i < 50_000; i++) createHash('sha256').update(`short message ${i}`).digest('hex');
  return 50_000;
}

/** Over several rounds, after one to warm up, with digests measured beside each. */
function measure(run: () => number): Rate {
  run();
  digests();
  const rounds = Array.from({ length: ROUNDS }, () => {
    const rate = perSecond(run);
    return { rate, perDigest: rate / perSecond(digests) };
  });
  const rates = rounds.map(({ rate }) => rate);
  return {
    median: median(rates),
    best: Math.max(...rates),
    perDigest: median(rounds.map(({ perDigest }) => perDigest)),
  };
}

const show = (rate: number): string => Math.round(rate).toLocaleString('en').padStart(12);
const print = (name: string, rate: Rate): void =>
  console.log(`${show(rate.median)}${show(rate.best)}${rate.perDigest.toFixed(2).padStart(12)}  ${name}`);

let missed = false;
console.log(`Node ${process.version}, ${ROUNDS} rounds\n`);
console.log('decide + evolve, steps per second on one core');
console.log(`the bar is ${BAR.toLocaleString('en')} in the median round`);
console.log('      median        best  per digest');
for (const [name, run] of Object.entries(WORKLOADS)) {
  const rate = measure(run);
  const below = rate.median < BAR;
  missed ||= below;
  print(below ? `${name}: BELOW THE BAR` : name, rate);
}
console.log('\nmeasured apart, commits per second');
for (const [name, run] of Object.entries(APART)) print(name, measure(run));
process.exitCode = missed ? 1 : 0;
