/** A remote worker in a process of its own: `remote-process <url> <key> <witness file>`. It is killed where a job says so. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { effect, happened, notHappened, pawl, task } from '../../src/index.js';

const [url = '', key = '', witness = ''] = process.argv.slice(2);

export type Killing = { readonly at: 'never' | 'before' | 'in' | 'after' };

const seen = (what: string): string[] =>
  existsSync(witness)
    ? readFileSync(witness, 'utf8')
        .split('\n')
        .filter((line) => line.startsWith(what))
    : [];

/** Once for each job and place: whoever comes after goes on. */
function die(place: string, at: string, jobId: string): void {
  if (place !== at || seen(`killed ${jobId} ${place}`).length > 0) return;
  appendFileSync(witness, `killed ${jobId} ${place}\n`);
  process.kill(process.pid, 'SIGKILL');
}

const charge = effect({
  name: 'charge',
  settle: '100ms',
  run: ({ jobId, at }: { jobId: string; at: string }, { idempotencyKey }) => {
    appendFileSync(witness, `charged ${jobId} ${idempotencyKey}\n`);
    die('in', at, jobId);
    return 'ch_1';
  },
  reconcile: ({ jobId }) => (seen(`charged ${jobId}`).length > 0 ? happened('ch_found') : notHappened()),
});

const buy = task({ name: 'buy' }, async ({ input, step, job }) => {
  const { at } = input as Killing;
  await step.run('quote', () => 7);
  die('before', at, job.id);
  const paid = await step.effect('charge', charge, { jobId: job.id, at });
  die('after', at, job.id);
  return { paid };
});

const app = await pawl({ store: url, key, tasks: [buy] });
await app.work({ lease: '2s', poll: '200ms', workerId: `p${process.pid}` });
