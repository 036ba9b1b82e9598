import { hostname } from 'node:os';
import { expect, test } from 'vitest';
import { thisMachine } from '../scripts/reliability/machine.js';
import { holds, reliabilityPage, type Run } from '../scripts/reliability/page.js';

const run: Run = {
  date: '2026-02-25',
  commit: 'abc',
  isClean: true,
  command: 'npm run reliability -- --seconds 10',
  machine: thisMachine(),
  from: 7,
  seconds: 10,
  seeds: {
    seeds: 1_234,
    decisions: 2_000_000,
    cpuSeconds: 20,
    medianDecisions: 2_100,
    hits: { 'fault crash before': 12, 'feature purge': 3 },
    failures: [],
  },
  chaos: [
    {
      store: 'sqlite',
      version: 'SQLite 3',
      seed: 1,
      workers: 4,
      seconds: 60,
      breaches: [],
      jobs: 100,
      acknowledged: { starts: 90, signals: 5, cancels: 3, requeues: 2 },
      httpRetries: 11,
      faults: { 'SIGKILL of a worker': 8 },
      hits: { 'event job.created': 100 },
      outside: { entered: 20, happened: 18, late: 0 },
      limits: { looks: 50, full: 4 },
      kept: null,
    },
  ],
  hunted: null,
};

test('the page says what was run, and claims nothing else', () => {
  const page = reliabilityPage(run);
  for (const said of [
    '1,234',
    '100,000',
    '2,100',
    '8 × SIGKILL of a worker',
    'crash before | 12',
    'SQLite 3',
  ])
    expect(page).toContain(said);
  expect(page).toContain('every invariant held');
  expect(page).toContain('Not part of this run');
  expect(page).not.toContain(hostname());
  expect(page).not.toContain(process.cwd());
});

test('what broke stands on the page: a seed, a breach, bugs that survive, changes that nobody has committed', () => {
  const [chaos] = run.chaos;
  const hunted = { bugs: 10, seeds: 100, survivors: ['dead for good'], isEnough: false };
  const breaches = [{ invariant: 8, problem: 'entered twice', decision: 0 }];
  const broken: [Partial<Run>, string][] = [
    [{ seeds: { ...run.seeds, failures: [4_711] } }, '4711'],
    [{ chaos: chaos ? [{ ...chaos, breaches }] : [] }, 'entered twice'],
    [{ hunted }, '`dead for good`'],
  ];
  for (const [change, said] of broken) {
    const page = reliabilityPage({ ...run, ...change });
    expect(page).toContain(said);
    expect(page).toContain('something broke');
    expect(holds({ ...run, ...change })).toBe(false);
  }
  expect(reliabilityPage({ ...run, isClean: false })).toContain('changes that are not in it');
});
