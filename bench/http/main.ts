/**
 * What HTTP costs on top of the engine: `npm run bench:http`, or with `-- sqlite`, `-- --rounds=7`. Both sides of each
 * comparison take turns in one run, and only their ratio counts.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../../test/postgres-server.js';
import { median, ratiosOf } from '../harness/statistics.js';
import { idleShare, listeners } from './standing.js';
import { headOf, load, noop, stand, type Stand } from './stand.js';

const args = process.argv.slice(2);
const rounds = Number(args.find((arg) => arg.startsWith('--rounds='))?.slice(9) ?? 5);
const named = args.filter((arg) => !arg.startsWith('--'));
const stores = named.length > 0 ? named : ['memory', 'sqlite'];
const ROUND_MS = 2_000;
const CONNECTIONS = 64;
const BULK = 1_000;

const folder = mkdtempSync(join(tmpdir(), 'pawl-bench-'));
const server = stores.includes('postgres') ? await startPostgres() : null;

const JOB = JSON.stringify({ job_type: 'noop', payload: { orderId: 'order_1001', lines: [1, 2, 3] } });

async function single({ port, barePort, startingPort, token }: Stand): Promise<void> {
  const head = headOf('/api/v1/jobs', token);
  const ask = (to: number) => load({ port: to, head, body: JOB, connections: CONNECTIONS, forMs: ROUND_MS });
  for (const each of [barePort, startingPort, port]) await ask(each);
  const bare: number[] = [];
  const starting: number[] = [];
  const jobs: number[] = [];
  for (let round = 0; round < rounds; round++) {
    bare.push(await ask(barePort));
    starting.push(await ask(startingPort));
    jobs.push(await ask(port));
  }
  report('a bare route, 64 connections', median(bare), '/s');
  report('one that starts the job', median(starting), '/s');
  report('POST /api/v1/jobs, 64 connections', median(jobs), '/s');
  report('  of the bare route', median(ratiosOf(jobs, bare)) * 100, ' %');
  report('  of the one that starts the job', median(ratiosOf(jobs, starting)) * 100, ' %');
}

async function bulk({ app, port, token }: Stand): Promise<void> {
  const one = JSON.parse(JOB) as { payload: unknown };
  const body = JSON.stringify({ jobs: Array.from({ length: BULK }, () => one) });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const overHttp = async () => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/jobs/bulk`, {
      method: 'POST',
      headers,
      body,
    });
    await response.text();
    if (response.status !== 201) throw new Error(`bulk: ${response.status}`);
  };
  const inProcess = async () => {
    await app.startMany(
      noop,
      Array.from({ length: BULK }, () => ({ input: one.payload })),
    );
  };
  const times = { inProcess: [] as number[], overHttp: [] as number[] };
  for (let round = 0; round < rounds * 4; round++) {
    times.inProcess.push(await timed(inProcess));
    times.overHttp.push(await timed(overHttp));
  }
  const [near, far] = [median(times.inProcess.slice(4)), median(times.overHttp.slice(4))];
  report('startMany of 1,000 in process', near, ' ms');
  report('POST /api/v1/jobs/bulk of 1,000', far, ' ms');
  report('  times the call in process', far / near, '');
}

async function timed(run: () => Promise<void>): Promise<number> {
  const from = performance.now();
  await run();
  return performance.now() - from;
}

function report(name: string, value: number, unit: string): void {
  console.log(
    `  ${name.padEnd(40)} ${value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(2)}${unit}`,
  );
}

try {
  for (const store of stores) {
    console.log(`\n${store}`);
    const url =
      store === 'sqlite'
        ? `sqlite:${join(folder, 'http.db')}`
        : server && store === 'postgres'
          ? await server.createDatabase()
          : 'memory:';
    const stood = await stand(url);
    try {
      report('CPU of a server that nobody asks', await idleShare(), ' %');
      await single(stood);
      await bulk(stood);
      const { opened, heardAll, slowestMs, heapBytes } = await listeners(stood);
      report('listeners', opened, '');
      report('  that heard every event', heardAll, '');
      report('  the last of them after', slowestMs, ' ms');
      report('  heap for each', heapBytes / opened / 1_024, ' KiB');
    } finally {
      await stood.close();
    }
  }
} finally {
  await server?.stop();
  rmSync(folder, { recursive: true });
}
