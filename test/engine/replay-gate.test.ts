import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { run } from '../../src/cli/program.js';
import { systemClock } from '../../src/client/system-clock.js';
import type { Store } from '../../src/ports/store.js';
import { memoryStore } from '../../src/stores/memory/memory-store.js';
import { replayGate, type GateCase } from '../../src/testkit/index.js';
import { startPostgres, type PostgresServer } from '../postgres-server.js';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => {
  await server.stop();
});

async function gate(url: string): Promise<{ code: number; cases: GateCase[]; err: string }> {
  let [out, err] = ['', ''];
  const console = {
    out: (text: string) => void (out += text),
    err: (text: string) => void (err += text),
    isTerminal: false,
  };
  const code = await run(['gate', '--store', url, '--json'], console, [process.execPath]);
  return { code, err, cases: (JSON.parse(out) as { cases: GateCase[] }).cases };
}

describe('JOB-10 the replay gate', () => {
  test.each(['memory', 'postgres'])(
    'JOB-10 passes on %s, and shows trace, job, retries and transitions',
    async (name) => {
      const { code, cases } = await gate(name === 'memory' ? 'memory:' : await server.createDatabase());
      expect(code).toBe(0);
      expect(cases.map((one) => [one.case, one.passed, one.retry_count])).toEqual([
        ['RP-001', true, 0],
        ['RP-002', true, 1],
        ['RP-003', true, 3],
        ['RP-004', true, 3],
        ['RP-005', true, 0],
      ]);
      for (const { trace_id, job_id } of cases) expect(trace_id).toContain(job_id);
      expect(cases[1]?.status_transition).toBe('queued→running→retrying→running→succeeded');
      expect(cases[3]).toMatchObject({ dlq_id: `dlq_${cases[3]?.job_id}` });
    },
  );

  test('JOB-10 a store that loses dead letters fails it', async () => {
    const store: Store = memoryStore({ clock: systemClock });
    const forgetful: Store = { ...store, dlqItem: async () => ({ now: 0, item: null }) };
    const cases = await replayGate(forgetful, () => undefined);
    expect(cases.filter(({ passed }) => !passed)).toMatchObject([
      { case: 'RP-004', problem: 'its dead-letter item is missing' },
    ]);
  });
});
