/**
 * A worker that reaches only a server: `node .build/examples/remote-worker.js [folder]`.
 *
 * The server has the store and knows no task. The worker has the task, an address and a key, and neither file nor password
 * of the store. It runs jobs with the same guarantees: its lease, its steps and its effects are kept by the server.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve } from '../src/http/serve.js';
import { effect, pawl, task, type HandlerContext } from '../src/index.js';

const folder = process.argv[2] ?? mkdtempSync(join(tmpdir(), 'pawl-remote-'));

// One machine: the store, and a server before it.
const server = await pawl({ store: `sqlite:${join(folder, 'pawl.db')}` });
const serving = await serve(server, { port: 0 });
const key = await newKey(serving.url);

// Another machine: the task, and nothing of the store but an address and a key.
let charges = 0;
const charge = effect({
  name: 'charge',
  run: ({ cents }: { cents: number }) => {
    charges += 1;
    return `ch_${cents}`;
  },
});
const order = task({ name: 'order' }, async ({ input, step }: HandlerContext<{ cents: number }>) => {
  const cents = await step.run('quote', () => input.cents * 2);
  const paid = await step.effect('charge', charge, { cents });
  const approved = await step.waitFor<boolean>('approval', { timeout: '1h' });
  return { paid, approved };
});
const app = await pawl({ store: serving.url, key, tasks: [order] });
await app.work({ concurrency: 20 });

const { job } = await app.start(order, { cents: 2_100 }, { idempotencyKey: 'order_1001' });
while ((await job.status()).status !== 'waiting') await new Promise((resolve) => setTimeout(resolve, 20));
console.log(`It waits for '${(await job.status()).waits[0]?.key}'. Charges so far: ${charges}.`);
await job.signal('approval', true);
console.log(`It came to ${JSON.stringify(await job.result({ timeout: '30s' }))}. Charges: ${charges}.`);

await app.close();
await serving.close();
await server.close();

/** Without any key a server takes whoever is on its own machine: that is how the first one is made. */
async function newKey(url: string): Promise<string> {
  const response = await fetch(`${url}/api/v1/keys`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ role: 'operator', name: 'worker of the shop' }),
  });
  const { data } = (await response.json()) as { data: { key: string } };
  return data.key;
}
