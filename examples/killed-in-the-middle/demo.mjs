/**
 * `npm run demo`: a worker is killed in the middle of a charge, another one finishes the job, and the charge happened once.
 *
 * The payment service below is the witness: it lives outside of Pawl and counts what really reached it. Workers are
 * processes of their own, and SIGKILL gives them no time for last words.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../../dist/cli/program.js';

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const tasks = fileURLToPath(new URL('tasks.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'pawl-demo-'));
const store = `sqlite:${join(folder, 'pawl.db')}`;
const began = performance.now();
const say = (who, what) =>
  console.log(`${((performance.now() - began) / 1_000).toFixed(1).padStart(5)} s  ${who.padEnd(9)} ${what}`);

/** Takes the money, then lets `beforeAnswer` happen: the moment in which it matters who dies. */
async function openPayments(beforeAnswer) {
  const charges = new Map();
  let requests = 0;
  const server = createServer((request, response) => {
    const [, , asked = ''] = (request.url ?? '').split('/');
    if (request.method === 'GET') {
      const found = charges.get(asked);
      say(
        'payments',
        found ? `asked for a charge by its key: yes, ${found.id}` : 'asked for a charge by its key: no',
      );
      response.writeHead(found ? 200 : 404).end(JSON.stringify(found ?? null));
      return;
    }
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      requests += 1;
      const charge = { id: `ch_${requests}`, cents: JSON.parse(body).cents };
      charges.set(request.headers['idempotency-key'], charge);
      say('payments', `charge ${charge.id} of ${charge.cents / 100} € is made; about to answer …`);
      beforeAnswer();
      response.end(JSON.stringify(charge));
    });
  });
  await new Promise((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    requests: () => requests,
    close: () => server.close(),
  };
}

/** A worker in a process of its own; resolves once it is up. */
async function startWorker(name, url) {
  const args = [main, 'worker', tasks, '--store', store, '--lease', '2s', '--worker-id', name];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, PAYMENTS_URL: url },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => {
    child.once('exit', (_code, signal) => resolve(signal));
  });
  await new Promise((resolve) => {
    child.stdout.once('data', resolve);
  });
  say(name, `is up (process ${child.pid})`);
  return { kill: (signal) => child.kill(signal), ended };
}

/** One command of the CLI, in this process: its exit code and what it printed. */
async function pawl(...args) {
  let printed = '';
  const console = {
    out: (text) => (printed += text),
    err: (text) => process.stderr.write(text),
    isTerminal: false,
  };
  const code = await run([...args, '--store', store], console, [process.execPath, main]);
  return { code, printed };
}

let victim = null;
const payments = await openPayments(() => {
  victim?.kill('SIGKILL');
  victim = null;
});
try {
  victim = await startWorker('worker-a', payments.url);
  const dying = victim.ended;
  const { printed } = await pawl('start', 'order', '{"id":"1001","cents":4200}', '--json');
  const { job_id: jobId } = JSON.parse(printed);
  say('client', `starts job ${jobId}`);
  say('worker-a', `ended by ${await dying}, in the middle of the charge: it never heard the answer`);

  const second = await startWorker('worker-b', payments.url);
  say('worker-b', 'waits for the lease of worker-a to run out (2 s) …');
  const { job } = { job: JSON.parse((await follow(jobId)).printed) };
  say('worker-b', `finished the job: ${JSON.stringify(job.result_json)}`);
  second.kill('SIGTERM');
  await second.ended;

  console.log(`\nWhat the log says:\n`);
  console.log((await pawl('jobs', 'events', jobId)).printed);
  const once = payments.requests() === 1 && job.state === 'succeeded';
  console.log(`The job has ${job.state}. Charges that reached the payment service: ${payments.requests()}.`);
  process.exitCode = once ? 0 : 1;
} finally {
  payments.close();
  rmSync(folder, { recursive: true });
}

/** The job once it has ended. */
async function follow(jobId) {
  for (;;) {
    const shown = await pawl('jobs', 'show', jobId, '--json');
    if (/"state":"(succeeded|failed|cancelled)"/.test(shown.printed)) return shown;
    await new Promise((resolve) => {
      setTimeout(resolve, 200);
    });
  }
}
