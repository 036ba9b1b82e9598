/**
 * One job, seen through all five contracts.
 *
 * The job fails once, loses its worker in the middle of a charge, waits for an approval and succeeds. Everything
 * below is computed by the kernel from commands; nothing is stored anywhere.
 */
import { CONTRACTS, type Contract } from '../src/contracts/index.js';
import {
  changesOf,
  decide,
  evolveCommit,
  findBreaches,
  StepLog,
  type Command,
  type Commit,
  type Job,
} from '../src/kernel/index.js';
import { aFailure, aJobSpec, aWait, command, T0 } from '../src/testkit/index.js';

const SECOND = 1_000;
const by = (worker: string) => ({ attemptId: `${worker}/1`, actor: `worker:${worker}` });
const claim = (worker: string) => ({ ...by(worker), worker: { id: worker, incarnation: `${worker}.1` } });
const charge = { step: 'charge', occurrence: 1 };
const approval = aWait({ reason: 'over 10,000 €' });

const STORY: readonly (readonly [says: string, command: Command])[] = [
  ['An order arrives.', command('create', { spec: aJobSpec({ task: 'order' }) })],
  ['Worker a takes it …', command('claim', { now: T0 + 1, ...claim('a') })],
  ['… and its handler throws.', command('fail-attempt', { now: T0 + 2, ...by('a'), failure: aFailure })],
  ['Worker b tries too early: refused.', command('claim', { now: T0 + 3, ...claim('b') })],
  ['Later, the retry is due.', command('claim', { now: T0 + 2 * SECOND, ...claim('b') })],
  [
    'A step is recorded.',
    command('record-step', { now: T0 + 3 * SECOND, ...by('b'), startedAt: T0 + 2 * SECOND }),
  ],
  [
    'The intent to charge is recorded …',
    command('begin-effect', { now: T0 + 3 * SECOND, ...by('b'), ...charge }),
  ],
  [
    '… and worker b is killed. Its lease runs out.',
    command('interrupt', { now: T0 + 33 * SECOND, ...by('b'), actor: 'recovery' }),
  ],
  ['Worker c resumes the job …', command('claim', { now: T0 + 34 * SECOND, ...claim('c') })],
  ['… may not charge again …', command('begin-effect', { now: T0 + 34 * SECOND, ...by('c'), ...charge })],
  [
    '… asks the receiver, which has the charge …',
    command('reconcile-effect', {
      now: T0 + 34 * SECOND,
      ...by('c'),
      ...charge,
      verdict: { kind: 'happened', result: '"ch_1"' },
    }),
  ],
  [
    '… and waits for an approval.',
    command('begin-wait', { now: T0 + 35 * SECOND, ...by('c'), waits: [approval] }),
  ],
  [
    'Worker b wakes up and wants to finish: stale.',
    command('complete', { now: T0 + 40 * SECOND, ...by('b') }),
  ],
  ['Three days later the approval comes.', command('signal', { now: T0 + 3 * 86_400 * SECOND })],
  ['Worker d takes over …', command('claim', { now: T0 + 3 * 86_400 * SECOND, ...claim('d') })],
  ['… and the job is done.', command('complete', { now: T0 + 3 * 86_400 * SECOND, ...by('d') })],
];

const contracts = Object.values(CONTRACTS) as Contract<string>[];
const WIDTHS = [48, 13, 16, 12, 10, 9, 10];
const row = (...cells: string[]): void =>
  console.log(cells.map((cell, i) => cell.padEnd(WIDTHS[i] ?? 0)).join(' '));

row('', 'engine', ...contracts.map(({ name }) => name));
const steps = new StepLog();
const commits: Commit[] = [];
let job: Job | null = null;
for (const [says, next] of STORY) {
  const decision = decide(job, next, steps);
  if (!decision.ok) {
    row(says, `refused: ${decision.code}`);
    continue;
  }
  const commit = { jobId: 'job_00000001', rev: commits.length + 1, events: decision.events };
  commits.push(commit);
  for (const change of changesOf(commits).filter(({ rev }) => rev === commit.rev))
    steps.apply(change.before, change.event);
  const after: Job = evolveCommit(job, commit);
  row(says, after.status, ...contracts.map((contract) => contract.project(after)));
  job = after;
}

const breaches = findBreaches(changesOf(commits));
console.log(
  `\n${commits.length} commits, ${commits.flatMap(({ events }) => events).length} events, invariants broken: ${breaches.length}`,
);
process.exitCode = job?.status === 'succeeded' && breaches.length === 0 ? 0 : 1;
