import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { systemClock as clock } from '../../src/client/system-clock.js';
import { apply, loadWorkflowText } from '../../src/runner/index.js';
import { fileRunStates } from '../../src/stores/file/file-run-states.js';
import { memoryRunStates } from '../../src/stores/memory/run-states.js';
import { postgresRunStates } from '../../src/stores/postgres/run-states.js';
import type { OpenRunStates } from '../../src/stores/run-states/open-run-states.js';
import { sqliteRunStates } from '../../src/stores/sqlite/run-states.js';
import { RUN_STATE_CONFORMANCE, type OpenRunStateStore } from '../../src/testkit/index.js';
import { ask, startPostgres, type PostgresServer } from '../postgres-server.js';
import { storeFolder } from '../store-folder.js';

const log = { error: () => undefined };
const folder = storeFolder('pawl-run-states-');
let postgres: PostgresServer;
let url: string;
beforeAll(async () => {
  postgres = await startPostgres();
  url = await postgres.createDatabase();
});
afterAll(async () => {
  await postgres.stop();
  rmSync(folder, { recursive: true });
});

let cases = 0;
let opened: OpenRunStates[] = [];
afterEach(async () => {
  await Promise.all(opened.map((store) => store.close()));
  opened = [];
});

async function kept(opening: Promise<OpenRunStates>): Promise<OpenRunStates> {
  const store = await opening;
  opened.push(store);
  return store;
}

/** Fresh data for each case, and the same for each opening within it. */
const STORES: Readonly<Record<string, () => OpenRunStateStore>> = {
  memory: () => {
    const store = memoryRunStates();
    return async () => store;
  },
  file: () => {
    const own = join(folder, `${cases++}`);
    return () => fileRunStates({ folder: own, clock, log });
  },
  sqlite: () => {
    const path = join(folder, `${cases++}.db`);
    return () => kept(sqliteRunStates({ path, clock }));
  },
  postgres: () => {
    let emptied: Promise<unknown> | undefined;
    return async () => {
      await (emptied ??= ask(url, 'DROP SCHEMA IF EXISTS pawl CASCADE'));
      return kept(postgresRunStates({ url, clock }));
    };
  },
};

const NAMES = Object.keys(STORES);

describe.each(NAMES)('RST-1 RST-2 RST-3 %s keeps run states as every store must', (name) => {
  test.each(Object.entries(RUN_STATE_CONFORMANCE))('%s', async (_title, run) => {
    await run((STORES[name] as () => OpenRunStateStore)());
  });
});

test.each(['../outside', '..\\outside', 'a\0b', '/etc/hostname'])(
  'RST-10 an id that leads out of the folder is one that nobody has: %j',
  async (id) => {
    const own = join(folder, `${cases++}`);
    const states = await fileRunStates({ folder: own, clock, log });
    writeFileSync(join(folder, 'outside.json'), '{}');
    expect(await states.getRun(id)).toBeNull();
  },
);

test('RST-13 a workflow is applied with its job and its state in one Postgres database', async () => {
  const own = await postgres.createDatabase();
  const steps = "steps: [{ name: s, action: cmd.run, args: { cmd: [echo, '{{ run_id }}'] } }]";
  const loaded = await loadWorkflowText(`version: 1\nname: test\n${steps}`);
  const { status, run } = await apply(loaded, { store: own, runId: 'run_postgres_1' });
  expect(status).toBe('success');
  const states = await kept(postgresRunStates({ url: own, clock }));
  expect(await states.getRun('run_postgres_1')).toEqual(run);
  expect(run?.steps[0]?.hosts['local']?.output).toBe('run_postgres_1\n');
});
