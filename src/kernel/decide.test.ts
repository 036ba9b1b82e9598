import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { command, event, given, PASTS, T0 } from '../testkit/index.js';
import { COMMAND_TYPES, STATUSES, type Command, type CommandType, type Status } from './index.js';

type State = Status | 'none';
const STATES: readonly State[] = ['none', ...STATUSES];

/** Late enough for whatever falls due in the sample pasts, before their deadline. */
const NOW = T0 + 500_000;

/** What makes each command a good one, wherever the state allows it. */
const PARTICULARS: Partial<Record<CommandType, Record<string, unknown>>> = {
  claim: { attemptId: 'worker-b/1' },
  'begin-effect': { step: 'mail' },
  create: { now: T0 },
  'expire-deadline': { now: T0 + 1_000_000 },
};

/** Where nothing is pending, so that a checkpoint can be taken. */
const SETTLED = [...PASTS.running, event('effect.recorded')];

const LEGEND: Record<string, string> = {
  '✓': 'ok',
  N: 'JOB_NOT_FOUND',
  E: 'JOB_EXISTS',
  T: 'INVALID_TRANSITION',
  S: 'STALE_ATTEMPT',
};

/** docs/commands.md: the answer of every command in every state. */
function readDocumentedAnswers(): Map<string, Map<string, string>> {
  const page = readFileSync(new URL('../../docs/commands.md', import.meta.url), 'utf8');
  const rows = page
    .split('\n')
    .filter((line) => line.startsWith('|') && !line.startsWith('| -'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('`', '')),
    );
  const [[, ...columns] = [], ...body] = rows;
  return new Map(
    body.map(([name = '', ...cells]) => [
      name,
      new Map(columns.map((state, i) => [state, LEGEND[cells[i] ?? ''] ?? 'no answer'])),
    ]),
  );
}

describe('every command has an answer in every state', () => {
  const documented = readDocumentedAnswers();

  test('docs/commands.md has a cell for each pair, and no other', () => {
    expect([...documented.keys()].toSorted()).toEqual([...COMMAND_TYPES].toSorted());
    for (const [name, row] of documented) expect([...row.keys()], name).toEqual(STATES);
  });

  for (const type of COMMAND_TYPES) {
    for (const state of STATES) {
      test(`${type} × ${state}`, () => {
        const settled = type === 'save-checkpoint' && state === 'running';
        const past = state === 'none' ? [] : settled ? SETTLED : PASTS[state];
        const sample = { ...command(type), now: NOW, ...PARTICULARS[type] } as Command;
        const { decision } = given(past).when(sample);
        expect(decision.ok ? 'ok' : decision.code).toBe(documented.get(type)?.get(state));
      });
    }
  }
});
