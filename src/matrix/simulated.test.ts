import { expect, test } from 'vitest';
import { evidenceOf, signOf } from './cell-text.js';
import { CELLS, GUARANTEE_IDS, type Guarantee } from './cells.js';
import type { MemoryLoss } from './memory-loss.js';
import type { Cell, Row } from './outcome.js';
import { withLosses } from './simulated.js';

/** F9 as the simulator leaves it: nothing wrong in three schedules. */
const row: Row = {
  fault: 'F9',
  cells: Object.fromEntries(
    GUARANTEE_IDS.map((id): [Guarantee, Cell] => {
      const said = CELLS.F9[id];
      const state = said.claim === 'n/a' ? 'n/a' : 'holds';
      return [id, { state, said, trials: 3, counted: { decisions: 9 }, problems: [] }];
    }),
  ) as Record<Guarantee, Cell>,
  how: ['met 3 times in 3 simulated schedules'],
  instead: 'simulated processes in virtual time',
  unproven: null,
};
const lost: MemoryLoss = {
  G1: { counted: { 'bodies entered while its process was gone': 0 }, problems: [] },
  G5: { counted: { 'jobs lost with their process': 1 }, problems: [] },
};

test('GUA-1 that a store in memory is lost is not proven where no process was killed with it', () => {
  const { cells, unproven } = withLosses(row, []);
  expect([signOf(cells.G1), signOf(cells.G5)]).toEqual(['not proven', 'not proven']);
  expect(unproven).toBe('no process was killed with its store');
});

test('GUA-1 that a store in memory is lost rests on processes that were killed with it', () => {
  const { cells, unproven, how } = withLosses(row, [lost, lost]);
  expect([signOf(cells.G1), signOf(cells.G5), signOf(cells.G2)]).toEqual(['✗ down', '✗ lost', '–']);
  expect(evidenceOf(cells.G5)).toBe(
    'a store in memory ends with its process; 5 trials: 9 decisions, 2 jobs lost with their process',
  );
  expect(unproven).toBeNull();
  expect(how.slice(1)).toHaveLength(2);
});

test('GUA-1 a job that is still there, or a body that runs without its process, fails its cell', () => {
  const found = { ...lost, G5: { ...lost.G5, problems: ['it is still there'] } };
  const entered = { ...lost, G1: { ...lost.G1, problems: ['a body was entered'] } };
  const { cells } = withLosses(row, [found, entered]);
  expect([signOf(cells.G1), signOf(cells.G5)]).toEqual(['FAIL', 'FAIL']);
});
