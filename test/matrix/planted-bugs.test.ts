import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { FaultId, Guarantee } from '../../src/matrix/cells.js';
import type { Bug } from '../../src/sim/bugs/bug.js';
import { BUGS } from '../../src/sim/bugs/index.js';
import { plant, uproot } from '../../src/sim/bugs/plant.js';
import { compiled } from '../compiled.js';
import { LONG } from '../long-mode.js';
import { matrixJson, scratchStore } from './run-cli.js';

const known = (name: string): Bug => {
  const bug = BUGS.find((one) => one.name === name);
  if (bug === undefined) throw new Error(`there is no bug '${name}'`);
  return bug;
};

type Planted = {
  readonly bug: Bug;
  readonly fault: FaultId;
  /** These must be red. */
  readonly red: readonly Guarantee[];
  /** In `npm test`, too. */
  readonly ci: boolean;
  /** For those that leave a job stuck: as long as all before that may take on a busy machine. */
  readonly patience?: string;
  /** One, unless chance has a part in it. */
  readonly trials?: string;
};

const PLANTED: readonly Planted[] = [
  {
    bug: {
      name: 'no fence on SQLite',
      file: 'stores/sqlite/commit',
      from: 'ON CONFLICT DO NOTHING RETURNING job',
      to: 'ON CONFLICT DO UPDATE SET command_id = excluded.command_id, body = excluded.body, link = excluded.link RETURNING job',
    },
    fault: 'F6',
    red: ['G6'],
    ci: false,
    patience: '15',
    // It shows where both claimers come to recover the job in the same moment, which they do in two trials of three.
    trials: '8',
  },
  { bug: known('effect re-run on unknown outcome'), fault: 'F2', red: ['G2'], ci: true },
  {
    bug: {
      name: 'records are not replayed',
      file: 'worker/run-step',
      from: 'if (recorded === null)',
      to: 'if (true)',
    },
    fault: 'F3',
    red: ['G3'],
    ci: false,
  },
  { bug: known('early signal dropped'), fault: 'F1', red: ['G4'], ci: false, patience: '8' },
  { bug: known('lease never expires'), fault: 'F10', red: ['G1', 'G5'], ci: false, patience: '15' },
];

const sources = join(await compiled(), 'src');

describe('GUA-1 a cell can fail', () => {
  const scratch = scratchStore();
  afterAll(() => scratch.remove());

  test.each(PLANTED.filter(({ ci }) => ci || LONG).map((one) => [one.bug.name, one] as const))(
    '%s',
    async (_name, { bug, fault, red, patience = '60', trials = '1' }) => {
      const planted = plant(sources, bug);
      const args = ['--store', scratch.url, '--fault', fault, '--trials', trials, '--patience', patience];
      const { code, matrices } = await matrixJson(planted, args).finally(() => uproot(planted));
      const [row] = matrices[0]?.rows ?? [];
      for (const guarantee of red) {
        expect(row?.cells[guarantee], guarantee).toMatchObject({ state: 'fails' });
        expect(row?.cells[guarantee].problems.length).toBeGreaterThan(0);
      }
      expect(code).toBe(1);
    },
  );
});
