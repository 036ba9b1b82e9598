import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BEHAVIOUR } from '../../src/matrix/behaviour.js';
import { CELLS, FAULT_IDS, FAULTS, GUARANTEE_IDS } from '../../src/matrix/cells.js';
import type { Cell, Matrix } from '../../src/matrix/outcome.js';
import { bundled } from '../bundled.js';
import { startPostgres, type PostgresServer } from '../postgres-server.js';
import { postgresSwitch, type PostgresSwitch } from '../postgres-switch.js';
import { matrixCommand, matrixJson, scratchStore, type Printed } from './run-cli.js';

const sources = join(await bundled(), 'src');
let server: PostgresServer;
let power: PostgresSwitch | null;
const scratch = scratchStore();

beforeAll(async () => {
  server = await startPostgres();
  power = await postgresSwitch(server);
});
afterAll(async () => {
  await power?.close();
  await server.stop();
  scratch.remove();
});

/** Cells that do not say what the spec says, with what is wrong. */
function wrongCells({ store, rows }: Matrix, isExempt: (fault: string) => boolean): string[] {
  return rows.flatMap(({ fault, cells, unproven }) =>
    GUARANTEE_IDS.flatMap((id) => {
      const cell: Cell = cells[id];
      const isMemory = store === 'memory (simulated)';
      const expected = CELLS[fault][id].claim === 'n/a' ? 'n/a' : isExempt(fault) ? 'not proven' : 'holds';
      const isLooked = cell.trials > 0 || isExempt(fault);
      if (cell.state === expected && isLooked && (isMemory || cell.problems.length === 0)) return [];
      return [
        `${store} ${fault} ${id}: ${cell.state}, ${cell.trials} trials: ${cell.problems.join()} ${unproven}`,
      ];
    }),
  );
}

describe('all stores', { timeout: 600_000 }, () => {
  let printed: Printed & { code: number | null };
  const report = join(scratch.folder, 'report.md');

  beforeAll(async () => {
    const commands = power
      ? ['--stop-command', power.stopCommand, '--start-command', power.startCommand]
      : [];
    const stores = ['--store', scratch.url, '--also', server.url, 'memory:'];
    printed = await matrixJson(sources, [...stores, ...commands, '--trials', '1', '--report', report]);
  }, 600_000);

  test('GUA-1 one command runs every cell of the matrix, with real processes on SQLite and Postgres, simulated in memory', () => {
    expect(printed.matrices.map(({ store }) => store)).toEqual(['SQLite', 'Postgres', 'memory (simulated)']);
    for (const { rows } of printed.matrices) expect(rows.map(({ fault }) => fault)).toEqual(FAULT_IDS);
    const isForeign = (matrix: Matrix) => (fault: string) =>
      matrix.store === 'Postgres' && fault === 'F9' && power === null;
    expect(printed.matrices.flatMap((matrix) => wrongCells(matrix, isForeign(matrix)))).toEqual([]);
    expect(printed).toMatchObject({ code: 0, passed: true, failed: 0, unproven: power ? 0 : 1 });
  });

  test('GUA-1 a witness outside of the store has seen every effect, and each of them once', () => {
    for (const { store, rows } of printed.matrices.slice(0, 2)) {
      for (const { fault, cells, unproven } of rows.filter((row) => row.unproven === null)) {
        const { effects, 'entries seen by the witness': entries } = cells.G2.counted;
        expect(entries, `${store} ${fault} ${unproven}`).toBe(effects);
        expect(cells.G1.counted['bodies seen by the witness']).toBeGreaterThan(0);
      }
    }
  });

  test('GUA-1 a write of a frozen worker that lost its job was sent, and refused', () => {
    const [sqlite, postgres] = printed.matrices;
    for (const matrix of [sqlite, postgres]) {
      const row = matrix?.rows.find(({ fault }) => fault === 'F6');
      expect(row?.how.join()).toContain('its write was refused (REV_TAKEN)');
      expect(row?.cells.G6.counted['writes refused']).toBeGreaterThan(0);
    }
  });

  test('GUA-1 a process was killed with its store in memory: its job is lost, and nothing ran meanwhile', () => {
    const row = printed.matrices[2]?.rows.find(({ fault }) => fault === 'F9');
    expect(row?.how.join()).toContain('a real process was killed (SIGKILL) with its store in memory');
    expect(row?.cells.G5).toMatchObject({
      said: { claim: 'lost' },
      counted: { 'jobs lost with their process': 1 },
    });
    expect(row?.cells.G1.counted).toMatchObject({ 'bodies entered while its process was gone': 0 });
  });

  test('GUA-1 nothing of it is left behind', () => {
    expect(readdirSync(scratch.folder)).toEqual(['report.md']);
  });

  test('GUA-16 the report has three tables for every fault, a date and all versions', () => {
    const text = readFileSync(report, 'utf8');
    const [guarantees = '', rest = ''] = text.split('## What the system does');
    const [behaviour = '', configuration = ''] = rest.split('## Recommended configuration');
    for (const id of FAULT_IDS) {
      const row = `| ${id} ${FAULTS[id]} |`;
      expect(guarantees.split(row)).toHaveLength(printed.matrices.length + 1);
      expect(behaviour).toContain(`${row} ${BEHAVIOUR[id].does} | ${BEHAVIOUR[id].remark} |`);
      expect(configuration).toContain(`${row} ${BEHAVIOUR[id].configuration} |`);
    }
    for (const sign of ['✓', 'resend', '✗ down', '✗ lost', '–', '“not proven”'])
      expect(guarantees, `${sign} is explained`).toContain(`${sign}: `);
    expect(text).toMatch(/\| date \| \d{4}-\d\d-\d\d \|/);
    expect(text).toMatch(/Pawl \d+\.\d+\.\d+, Node v\d+\.\d+\.\d+, SQLite 3\.\d+\.\d+, Postgres \d+/);
    expect(configuration).toContain('`pawl doctor` names each setting that voids a guarantee');
    for (const word of [
      'ledger',
      'effect store',
      'checkpoint',
      'stepTimeout',
      'retry',
      'lease',
      'replicas',
      'NOTIFY',
    ]) {
      expect(configuration, word).toContain(word);
    }
  });
});

describe('what cannot be done here', () => {
  test('GUA-1 a server that is not ours is not stopped: the cells of F9 are not proven, and say so', async () => {
    const { code, out } = await matrixCommand(sources, ['--store', server.url, '--fault', 'F9']);
    expect(out).toContain(
      'not proven here: this server is not ours to stop: give --stop-command and --start-command',
    );
    expect(out).toMatch(/G5 not proven/);
    expect(out).toContain('1 fault is not proven here');
    expect(code).toBe(0);
  });

  test('a stop command without a start command is refused', async () => {
    const { code, err } = await matrixCommand(sources, ['--store', server.url, '--stop-command', 'true']);
    expect(err).toContain('INVALID_OPTION');
    expect(err).toContain('start-command is missing');
    expect(code).toBe(2);
  });

  test('a command that does not do what it says is named', async () => {
    const args = ['--store', server.url, '--fault', 'F9', '--trials', '1', '--start-command', 'true'];
    const { code, err } = await matrixCommand(sources, [...args, '--stop-command', 'exit 3']);
    expect(err).toContain('stop-command failed with exit code 3');
    expect(code).toBe(2);
  });
});
