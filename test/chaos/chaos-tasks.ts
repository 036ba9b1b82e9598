/** What workers under chaos run. Loaded by `pawl worker` and `pawl server` as anybody's tasks are. */
import { effect, happened, noEffect, notHappened, task, type Effect } from '../../src/index.js';
import { KEY_LIMIT, RATE } from './limits.js';
import { Outside } from './outside.js';

const outside = new Outside(process.env['PAWL_CHAOS_OUTSIDE'] ?? '.');

export type Work = {
  /** What the job is to come to, and what chance it has on the way. */
  readonly n: number;
  /** So many attempts fail. */
  readonly failures?: number;
  readonly key?: string;
};

const RETRY = { maxRetries: 2, baseMs: 50, maxBackoffMs: 400, jitterMs: 20 } as const;
/** Longer than a request outside is under way. */
const SETTLE_MS = 300;
const LONG_MS = 1_500;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** The receiver keeps no keys: whatever enters twice happens twice. Of every so many entries one is refused, one breaks. */
function send(name: string, { canTell }: { canTell: boolean }): Effect<Work, string> {
  return effect<Work, string>({
    name: `outside.${name}`,
    settle: SETTLE_MS,
    async run({ n }, { idempotencyKey: key }) {
      const isFirst = outside.of(key).length === 0;
      outside.note(key, 'entered');
      // Some take so long that a process is killed or frozen within them.
      await pause(n % 9 === 0 ? LONG_MS : n % 30);
      if (isFirst && n % 7 === 3) {
        outside.note(key, 'refused');
        throw noEffect(new Error('the receiver refused'));
      }
      if (isFirst && n % 11 === 5) throw new Error('the connection broke before');
      const result = outside.happen(key);
      await pause(n % 20);
      if (n % 13 === 6) throw new Error('the connection broke after');
      return result;
    },
    ...(canTell && {
      reconcile(_work: Work, { idempotencyKey: key }: { idempotencyKey: string }) {
        const result = outside.resultOf(key);
        if (result !== null) return happened(result);
        outside.note(key, 'denied');
        return notHappened();
      },
    }),
  });
}

const charge = send('charge', { canTell: true });
const mail = send('mail', { canTell: false });

export const plain = task<Work>({ name: 'plain', retry: RETRY }, async ({ input: { n }, step }) => {
  const [one, two] = await Promise.all([
    step.run('one', () => n),
    step.run('two', async () => {
      await pause(n % 10);
      return 1;
    }),
  ]);
  return { n, sum: await step.run('three', () => one + two) };
});

export const order = task<Work>({ name: 'order', retry: RETRY }, async ({ input, step }) => {
  await step.run('quote', () => pause(input.n % 10));
  const paid = await step.effect('charge', charge, input);
  const mailed = input.n % 4 === 0 ? await step.effect('mail', mail, input) : null;
  return { n: input.n, paid, mailed };
});

export const approval = task<Work>({ name: 'approval', retry: RETRY }, async ({ input: { n }, step }) => {
  await step.run('before', () => n);
  const said = await step.waitFor<string>('go');
  await step.sleep('cool-off', n % 200);
  return { n, said };
});

export const nap = task<Work>({ name: 'nap', retry: RETRY }, async ({ input: { n }, step }) => {
  await Promise.all([step.sleep('short', n % 100), step.sleep('long', n % 700)]);
  return { n };
});

export const kid = task<Work>(
  { name: 'kid', retry: { ...RETRY, maxRetries: 0 } },
  async ({ input, step }) => {
    const n = await step.run('work', () => input.n);
    if (input.failures) throw new Error('this child fails');
    return n;
  },
);

export const family = task<Work>({ name: 'family', retry: RETRY }, async ({ input: { n }, step }) => {
  const kids = [n, n + 1].map((each) =>
    step.call(`kid-${each - n}`, kid, { n: each, failures: each % 5 === 0 ? 1 : 0 }).then(
      (said) => said,
      () => 'failed',
    ),
  );
  return { n, kids: await Promise.all(kids) };
});

export const flaky = task<Work>({ name: 'flaky', retry: RETRY }, async ({ input, step, job }) => {
  const n = await step.run('work', () => input.n);
  if (job.retryCount < (input.failures ?? 0)) throw new Error(`attempt ${job.attempt} fails`);
  return { n, retries: job.retryCount };
});

export const keyed = task<Work>(
  {
    name: 'keyed',
    retry: RETRY,
    concurrency: { key: ({ key }) => key ?? null, limit: KEY_LIMIT },
  },
  async ({ input: { n }, step }) => {
    await step.run('hold', () => pause(300 + (n % 900)));
    return { n };
  },
);

export const rated = task<Work>(
  { name: 'rated', retry: RETRY, rateLimit: { limit: RATE.limit, per: RATE.perMs } },
  async ({ input: { n }, step }) => ({ n: await step.run('work', () => n) }),
);

/** Fired by a schedule. */
export const tick = task<Work>({ name: 'tick', retry: RETRY }, ({ input: { n } }) => ({ n }));
