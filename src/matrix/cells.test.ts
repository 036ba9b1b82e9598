import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CELLS, FAULT_IDS, GUARANTEE_IDS, type Claim } from './cells.js';
import { FAULT_SCRIPTS } from './faults/index.js';

/** What the spec writes for each claim. */
const WRITTEN: Readonly<Record<Exclude<Claim, 'lost'>, RegExp>> = {
  holds: /^✓/,
  resend: /^resend$/,
  'not while down': /^✗ while down$/,
  'n/a': /^–$/,
};

test('GUA-1 the cells are those of the spec, one by one', () => {
  const spec = readFileSync(new URL('../../docs/spec.md', import.meta.url), 'utf8');
  for (const fault of FAULT_IDS) {
    const line = new RegExp(`^\\| ${fault} +\\|(.*)\\|$`, 'm').exec(spec);
    const cells = (line?.[1] ?? '').split('|').map((cell) => cell.trim());
    expect(cells, fault).toHaveLength(GUARANTEE_IDS.length);
    for (const [index, guarantee] of GUARANTEE_IDS.entries()) {
      const { claim } = CELLS[fault][guarantee];
      expect(cells[index], `${fault} ${guarantee}`).toMatch(WRITTEN[claim as keyof typeof WRITTEN]);
    }
  }
});

test('GUA-1 every fault has a script of its own, which knows its name', () => {
  expect(Object.entries(FAULT_SCRIPTS).map(([id, { id: own }]) => [id, own])).toEqual(
    FAULT_IDS.map((id) => [id, id]),
  );
});
