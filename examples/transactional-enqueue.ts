/**
 * A web application that writes a row and starts a job in one transaction of its own, on Postgres:
 * `node .build/examples/transactional-enqueue.js [postgres://…]`.
 *
 * The order and the job that ships it exist both, or neither: there is no moment in which a crash, or a rollback, could
 * leave one without the other. Without a URL a Postgres is started for as long as the example runs.
 */
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { pawl, task, type HandlerContext } from '../src/index.js';
import { startPostgres } from '../test/postgres-server.js';

const postgres = process.argv[2] === undefined ? await startPostgres() : null;
const url = process.argv[2] ?? (await postgres?.createDatabase()) ?? '';
const pool = new pg.Pool({ connectionString: url });
await pool.query(
  `CREATE TABLE IF NOT EXISTS orders (id text PRIMARY KEY, item text NOT NULL, state text NOT NULL)`,
);

const ship = task({ name: 'ship' }, async ({ input, step }: HandlerContext<{ orderId: string }>) => {
  // Until its result is recorded the step may run again: an UPDATE like this one does not mind.
  await step.run('mark', async () => {
    await pool.query(`UPDATE orders SET state = 'shipped' WHERE id = $1`, [input.orderId]);
  });
  return { shipped: input.orderId };
});

const app = await pawl({ store: url, tasks: [ship] });
await app.work({ poll: '200ms' });

const web = new Hono().post('/orders', async (context) => {
  const { id, item } = await context.req.json<{ id: string; item: string }>();
  const tx = await pool.connect();
  let jobId: string | null = null;
  try {
    await tx.query('BEGIN');
    await tx.query(`INSERT INTO orders (id, item, state) VALUES ($1, $2, 'new')`, [id, item]);
    const { job } = await app.start(ship, { orderId: id }, { tx });
    jobId = job.id;
    if (item === 'unicorn') throw new Error('no unicorns in stock');
    await tx.query('COMMIT');
    return context.json({ jobId }, 201);
  } catch (error) {
    await tx.query('ROLLBACK');
    return context.json({ jobId, error: String(error) }, 409);
  } finally {
    tx.release();
  }
});

const server = serve({ fetch: web.fetch, port: 0, hostname: '127.0.0.1' });
if (!server.listening) await new Promise((resolve) => server.once('listening', resolve));
const { port } = server.address() as AddressInfo;

/** Orders something, and says what is left of it. */
async function order(id: string, item: string): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/orders`, {
    method: 'POST',
    body: JSON.stringify({ id, item }),
  });
  const { jobId, error = '' } = (await response.json()) as { jobId: string; error?: string };
  console.log(`POST /orders ${id}, a ${item}: ${response.status}${error && ` (${error})`}`);
  const { rowCount } = await pool.query('SELECT FROM orders WHERE id = $1', [id]);
  const job = await app
    .job(jobId)
    .status()
    .then(
      () => 'there',
      (reason: { code?: string }) => reason.code,
    );
  console.log(`  The row: ${rowCount === 1 ? 'there' : 'not there'}. The job: ${job}.`);
  if (response.ok) console.log(`  ${JSON.stringify(await app.job(jobId).result({ timeout: '30s' }))}`);
}

await order('1001', 'kettle');
await order('1002', 'unicorn');

const { rows } = await pool.query('SELECT id, item, state FROM orders ORDER BY id');
console.log(`Orders: ${JSON.stringify(rows)}`);

server.close();
await app.close();
await pool.end();
await postgres?.stop();
