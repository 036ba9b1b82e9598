import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { exploreAll } from '../../src/sim/exhaustive/explore.js';
import { runKept } from '../../src/sim/kept-seeds.js';
import { neverHit } from '../../src/sim/never-hit.js';
import { planOf } from '../../src/sim/plan.js';
import { shrink } from '../../src/sim/shrink.js';
import { simulate } from '../../src/sim/simulation.js';
import { aimOf, aimOfReply, Strikes } from '../../src/sim/strikes.js';
import { LONG } from '../long-mode.js';
import { ROOT } from '../source-files.js';

/** Few, since everything runs here at once: `npm run sim` is for many. */
const SEEDS = 12;

describe('the simulator', () => {
  test('invariant 29: the same seed gives the same trace', async () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const first = await simulate(planOf(seed));
      const second = await simulate(planOf(seed));
      expect(first.breaches, `seed ${seed}`).toEqual([]);
      expect(second.traceHash, `seed ${seed}`).toBe(first.traceHash);
      expect(second.decisions).toBe(first.decisions);
    }
  });

  test('plans that once failed hold', async () => {
    expect(await runKept(join(ROOT, 'test/sim/seeds.json'))).toEqual([]);
  });

  test('a plan that holds is not shrunk', async () => {
    const plan = planOf(1);
    expect(await shrink(plan, { mostRuns: 1 })).toBe(plan);
  });

  test('invariant 28: what was never met is named', () => {
    expect(neverHit({ 'fault crash before': 1 })).not.toContain('fault crash before');
    expect(neverHit({})).toContain('fault crash after');
    expect(neverHit({})).toContain('fault error after at a heartbeat');
    expect(neverHit({})).toContain('fault slow reply at a read');
  });

  test('invariant 28: faults strike heartbeats and reads, each counted by themselves', () => {
    const fault = { kind: 'error after', nth: 2, ms: 5, same: true } as const;
    const [atBeat, atRead] = [{ ...fault, at: 'beat' } as const, { ...fault, at: 'read' } as const];
    const strikes = new Strikes([fault, atBeat, atRead]);
    expect([strikes.next('beat'), strikes.next('read'), strikes.next('write')]).toEqual([null, null, null]);
    expect([strikes.next('write'), strikes.next('read')]).toEqual([fault, atRead]);
    expect([strikes.next('beat'), strikes.next('beat')]).toEqual([atBeat, null]);
    expect([aimOf('beat'), aimOf('load'), aimOf('commit'), aimOf('due')]).toEqual([
      'beat',
      'read',
      'write',
      null,
    ]);
    expect([aimOfReply('due', { jobIds: [] }), aimOfReply('due', { jobIds: ['job'] })]).toEqual([
      null,
      'read',
    ]);
  });

  // All of them take a minute: `npm run sim -- --exhaustive`.
  test('the exhaustive mode finds nothing wrong in its first states', async () => {
    const mostStates = LONG ? Number.POSITIVE_INFINITY : 1_500;
    const explored = await exploreAll({ mostStates });
    expect(explored.breach).toBeNull();
    expect(explored.states).toBeGreaterThanOrEqual(Math.min(mostStates, 35_000));
    expect(explored.ends).toBeGreaterThan(150);
    expect(explored.isComplete).toBe(LONG);
  });
});
