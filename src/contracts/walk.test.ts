import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { changesOf, EVENT_TYPES, TRANSITIONS, type Change, type Job } from '../kernel/index.js';
import {
  claimedBy,
  created,
  deadLettered,
  event,
  interrupted,
  PASTS,
  prng,
  randomHistory,
  scheduled,
  waitingFor,
  historyOf,
} from '../testkit/index.js';
import { CONTRACTS, isLegal, statusChangesOf, type Contract, type Machine } from './index.js';

const contracts = Object.values(CONTRACTS) as Contract<string>[];

const running = [...created(), claimedBy('worker-a')];
const cancelled = event('job.cancelled');

/** Walks that together take every edge of the engine, with every variant that a projection tells apart. */
const WALKS: readonly Change[][] = [
  ...Object.values(PASTS).map((past) => historyOf(past)),
  historyOf(scheduled(), event('job.promoted'), claimedBy('worker-a'), event('job.succeeded')),
  historyOf(scheduled(), cancelled),
  historyOf(created(), cancelled),
  historyOf(running, cancelled),
  historyOf(running, waitingFor({}), cancelled),
  historyOf(running, waitingFor({ expiresAt: 1 }), cancelled),
  historyOf(running, waitingFor({}), event('wait.completed'), cancelled),
  historyOf(running, waitingFor({}), event('wait.completed'), claimedBy('worker-b'), event('job.succeeded')),
  historyOf(running, waitingFor({ expiresAt: 1 }), event('wait.completed'), claimedBy('worker-b')),
  historyOf(running, event('attempt.failed'), cancelled),
  historyOf(running, event('attempt.failed'), claimedBy('worker-b'), event('job.succeeded')),
  historyOf(running, event('attempt.failed'), deadLettered({ from: 'retrying', reason: 'abandoned' })),
  historyOf(running, interrupted(), cancelled),
  historyOf(running, interrupted(), claimedBy('worker-b'), event('job.succeeded')),
  historyOf(running, interrupted(), deadLettered({ from: 'interrupted', reason: 'recovery_aborted' })),
  historyOf(running, deadLettered()),
];

const stepsIn = <S extends string>(contract: Contract<S>, changes: readonly Change[]): [S | null, S][] =>
  changes.map(({ before, after }) => [before && contract.project(before), contract.project(after)]);

describe('every engine transition in every contract', () => {
  const jobSteps = WALKS.flat().map(({ before, after }): [Job | null, Job] => [before, after]);

  for (const edge of TRANSITIONS) {
    const examples = jobSteps.filter(
      ([before, after]) => (before?.status ?? null) === edge.from && after.status === edge.to,
    );
    for (const contract of contracts) {
      test(`invariant 22: ${edge.from ?? '–'} → ${edge.to} is legal in ${contract.name}, or no change`, () => {
        expect(examples.length).toBeGreaterThan(0);
        for (const [before, after] of examples) {
          const from = before && contract.project(before);
          const to = contract.project(after);
          expect(isLegal(contract.machine, from, to), `${from} → ${to}`).toBe(true);
        }
      });
    }
  }

  test('invariant 22: every random walk is legal in all five contracts', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 1, max: 120 }), (seed, commands) => {
        const changes = changesOf(randomHistory(prng(seed), { commands }).commits);
        for (const contract of contracts) {
          for (const [from, to] of stepsIn(contract, changes)) {
            if (!isLegal(contract.machine, from, to)) throw new Error(`${contract.name}: ${from} → ${to}`);
          }
        }
      }),
      { numRuns: 400 },
    );
  });
});

describe('every edge of every source’s machine is reachable', () => {
  /** Edges that no walk of the engine takes, each with its reason. */
  const UNREACHABLE: Partial<Record<keyof typeof CONTRACTS, Record<string, string>>> = {};

  for (const contract of contracts) {
    test(contract.name, () => {
      const taken = new Set(
        WALKS.flatMap((walk) => stepsIn(contract, walk).map(([from, to]) => `${from} → ${to}`)),
      );
      const missing = contract.machine.edges
        .map(({ from, to }) => `${from} → ${to}`)
        .filter((edge) => !taken.has(edge));
      expect(missing).toEqual(Object.keys(UNREACHABLE[contract.name] ?? {}));
    });
  }
});

describe('the machines are data', () => {
  test.each(contracts.map((contract) => [contract.name, contract.machine] as const))(
    '%s: edges join known states',
    (_, machine) => {
      const { states, edges }: Machine<string> = machine;
      for (const { from, to } of edges) {
        if (from !== null) expect(states).toContain(from);
        expect(states).toContain(to);
      }
      expect(new Set(edges.map(({ from, to }) => `${from} ${to}`)).size).toBe(edges.length);
    },
  );

  test('a contract emits a status event only when its own state changes', () => {
    const seen = (contract: Contract<string>) =>
      statusChangesOf(contract, historyOf(PASTS.failed)).map(({ from, to }) => `${from} → ${to}`);
    expect(seen(CONTRACTS['task-runs'] as Contract<string>)).toEqual([
      'null → queued',
      'queued → running',
      'running → failed',
    ]);
    expect(seen(CONTRACTS.tasks as Contract<string>)).toEqual([
      'null → pending',
      'pending → ready',
      'ready → running',
      'running → failed',
    ]);
    expect(seen(CONTRACTS.jobs as Contract<string>)).toEqual([
      'null → queued',
      'queued → running',
      'running → dlq_pending',
      'dlq_pending → dlq_recorded',
      'dlq_recorded → failed',
    ]);
  });

  test('the walks use every event type that moves a job', () => {
    const moving = new Set(TRANSITIONS.map((edge) => edge.event));
    const used = new Set(WALKS.flat().map((change) => change.event.type));
    expect(EVENT_TYPES.filter((type) => moving.has(type) && !used.has(type))).toEqual([]);
  });
});
