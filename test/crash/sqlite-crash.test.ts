import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { execFileSync } from 'node:child_process';
import { changesOf, decodeEvents, findBreaches } from '../../src/kernel/index.js';
import { openDatabase } from '../../src/stores/sqlite/driver.js';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.js';
import { fakeClock, T0 } from '../../src/testkit/index.js';
import { ROOT } from '../source-files.js';

const KILLS = 6;
const folder = mkdtempSync(join(tmpdir(), 'pawl-crash-'));

/** Runs writers side by side, kills each in the middle of its work, and returns what they had been told was saved. */
async function killWriters(path: string, prefixes: readonly string[]): Promise<string[]> {
  const acknowledged = await Promise.all(
    prefixes.map(
      (prefix) =>
        new Promise<string[]>((resolve) => {
          const writer = spawn(process.execPath, [join(ROOT, '.build/test/crash/writer.js'), path, prefix], {
            stdio: ['ignore', 'pipe', 'inherit'],
          });
          let output = '';
          writer.stdout.on('data', (chunk: Buffer) => {
            output += chunk.toString();
            if (output.split('\n').length > 40) writer.kill('SIGKILL');
          });
          // A line that the kill cut short was not read as an acknowledgement by anyone.
          writer.on('close', () =>
            resolve(
              output
                .split('\n')
                .slice(0, -1)
                .flatMap((line) => line.split(' ').filter(Boolean)),
            ),
          );
        }),
    ),
  );
  return acknowledged.flat();
}

describe('SQLite, written by several processes that are killed', () => {
  beforeAll(() => {
    execFileSync('npm', ['run', '--silent', 'compile'], { cwd: ROOT, stdio: 'ignore' });
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  test(
    'nothing acknowledged is lost, nothing is half-written, and a key makes one job',
    { timeout: 120_000 },
    async () => {
      const path = join(folder, 'crash.db');
      const acknowledged: string[] = [];
      for (let n = 0; n < KILLS; n++) acknowledged.push(...(await killWriters(path, [`a${n}`, `b${n}`])));
      expect(acknowledged.length).toBeGreaterThan(200);

      const raw = await openDatabase(path);
      expect(raw.prepare('PRAGMA integrity_check').get()).toMatchObject({ integrity_check: 'ok' });
      const halves = raw
        .prepare(
          'SELECT count(*) AS n FROM jobs WHERE NOT EXISTS (SELECT 1 FROM log WHERE job = jobs.id AND rev = jobs.rev)',
        )
        .get();
      expect(halves).toMatchObject({ n: 0 });
      raw.close();

      const store = await sqliteStore({ path, clock: fakeClock(T0) });
      const keys = new Map<string, number>();
      for (const jobId of acknowledged) {
        const { rows } = await store.log(jobId, { fromRev: 1, limit: 10 });
        const [row] = rows;
        if (!row) throw new Error(`${jobId} was acknowledged and is gone`);
        const decoded = decodeEvents(row.body);
        if (!decoded.ok) throw new Error(decoded.problem);
        expect(findBreaches(changesOf([{ jobId, rev: 1, events: decoded.events }]))).toEqual([]);
        const key = jobId.replace(/^.*_job_/, '');
        keys.set(key, (keys.get(key) ?? 0) + 1);
      }
      expect([...keys.values()].every((count) => count === 1)).toBe(true);
      await store.close();
    },
  );
});
