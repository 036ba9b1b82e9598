import { afterEach, expect, test } from 'vitest';
import { effect, pawl, runStates, schedule, task } from '../index.js';

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const small = task({ name: 'small' }, () => 1);
const JOB = '01M7QF94ZRHASGKW8KQYVZ6BX6';

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

/** As one calls it who writes without types, and can say anything. */
async function say(to: object, path: string, said: readonly unknown[]): Promise<unknown> {
  const names = path.split('.');
  const method = names.pop() ?? '';
  const on = names.reduce<object>((object, name) => Reflect.get(object, name) as object, to);
  return Reflect.apply(Reflect.get(on, method) as () => unknown, on, said);
}

const refused = (option: string): unknown =>
  expect.objectContaining({ code: 'INVALID_OPTION', details: { option } });

test.each<[option: string, call: string, said: readonly unknown[]]>([
  ['task', 'start', ['small', null]],
  ['task', 'start', [{ name: 'small' }, null]],
  ['options', 'start', [small, null, null]],
  ['idempotencykey', 'start', [small, null, { idempotencykey: 'k' }]],
  ['delay', 'start', [small, null, { delay: 'soon' }]],
  ['scope', 'start', [small, null, { idempotencyKey: 'k', scope: 5 }]],
  ['idempotencyKey', 'start', [small, null, { idempotencyKey: null }]],
  ['taskId', 'start', [small, null, { taskId: null }]],
  ['jobs', 'startMany', [small, { input: null }]],
  ['[1]', 'startMany', [small, [{ input: 1 }, 2]]],
  ['[1].inptu', 'startMany', [small, [{ input: 1 }, { inptu: 2 }]]],
  ['[0].options.tx', 'startMany', [small, [{ input: 1, options: { tx: {} } }]]],
  ['txn', 'startMany', [small, [{ input: 1 }], { txn: {} }]],
  ['tenant', 'counts', [{ tenant: 'a' }]],
  ['tenantId', 'unknownEffects', [{ tenantId: 5 }]],
  ['by', 'resolveEffect', [JOB, { step: 'a', verdict: 'notHappened' }]],
  ['verdict', 'resolveEffect', [JOB, { step: 'a', by: 'me', verdict: 'nothappened' }]],
  ['by', 'resume', [JOB, {}]],
  ['options', 'resume', [JOB]],
  ['by', 'abandon', [JOB, { reason: 'stuck' }]],
  ['reason', 'abandon', [JOB, { by: 'me' }]],
  ['reason', 'abandon', [JOB, { by: 'me', reason: 5 }]],
  ['raeson', 'abandon', [JOB, { by: 'me', raeson: 'stuck' }]],
  ['concurency', 'work', [{ concurency: 5 }]],
  ['concurrency', 'work', [{ concurrency: 0 }]],
  ['queues', 'work', [{ queues: 'mail' }]],
  ['onStopped', 'work', [{ onStopped: 'log' }]],
  ['statuz', 'deadLetters.list', [{ statuz: 'open' }]],
  ['limit', 'deadLetters.list', [{ limit: 0 }]],
  ['keepRecoded', 'deadLetters.requeue', ['dlq', { by: 'me', keepRecoded: true }]],
  ['by', 'deadLetters.requeue', ['dlq', { keepRecorded: true }]],
  ['tasks', 'deadLetters.requeueAll', [{ by: 'me', tasks: 'small' }]],
  ['perSecond', 'deadLetters.requeueAll', [{ by: 'me', perSecond: 0 }]],
  ['reasons', 'deadLetters.askDiscard', ['dlq', { by: 'me', reasons: 'test data' }]],
  ['by', 'deadLetters.approveDiscard', ['dlq', { by: 5 }]],
  ['by', 'deadLetters.requeue', ['dlq', { by: ' ' }]],
  ['schedule', 'schedules.put', [{ id: 'a', cron: '* * * * *' }]],
  ['tenant', 'schedules.pause', ['a', { tenant: 'a' }]],
  ['event', 'callbacks.subscribe', [{ url: 'https://localhost', event: ['step'] }]],
  ['entryIds', 'callbacks.redrive', ['entry']],
  ['limit', 'alerts.list', [{ limit: 1.5 }]],
  ['onprogress', 'evidence.verifyAll', [{ onprogress() {} }]],
  ['passoverGone', 'evidence.export', [JOB, { passoverGone: true }]],
])('INVALID_OPTION names %s of %s, and nothing is done', async (option, call, said) => {
  const app = await pawl({ store: 'memory:', tasks: [small], log: silent });
  opened.push(app);
  await expect(say(app, call, said)).rejects.toEqual(refused(option));
  expect(await app.counts()).toEqual({});
});

test('a job is asked for its result and cancelled as it can be, or not at all', async () => {
  const app = await pawl({ store: 'memory:', tasks: [small], log: silent });
  opened.push(app);
  const { job } = await app.start(small, null);
  await expect(say(job, 'result', [{ timout: '1s' }])).rejects.toEqual(refused('timout'));
  await expect(say(job, 'cancel', ['no longer wanted'])).rejects.toEqual(refused('options'));
  expect((await job.status()).status).toBe('queued');
});

test.each<[string, object]>([
  ['taskz', { taskz: [small] }],
  ['tasks', { tasks: small }],
  ['tasks', { tasks: ['small'] }],
  ['schedules', { schedules: [small] }],
  ['hooks.onEnd', { hooks: { onEnd() {} } }],
  ['hooks.attemptEnded', { hooks: { attemptEnded: 'log' } }],
  ['retention.keep', { retention: {} }],
  ['retention.succeeded', { retention: { keep: '7d', succeeded: '1d' } }],
  ['retention.rules', { retention: { keep: '7d', rules: { keep: '1d' } } }],
  [
    'retention.rules[1].state',
    { retention: { keep: 1, rules: [{ keep: 1 }, { keep: 1, state: 'failed' }] } },
  ],
  ['callbacks.allowprivate', { callbacks: { allowprivate: true } }],
  ['alerts.dlqGrwth', { alerts: { dlqGrwth: false } }],
  ['alerts.dlqGrowth.least', { alerts: { dlqGrowth: { least: 5 } } }],
  ['tracing', { tracing: {} }],
  ['log', { log: { info() {}, warn() {}, error() {} } }],
])('pawl() opens nothing for what it has no use for: %s', async (option, given) => {
  await expect(pawl({ store: 'memory:', log: silent, ...given })).rejects.toEqual(refused(option));
});

test.each<[option: string, define: string, said: readonly unknown[]]>([
  ['task', 'schedule', ['small', { id: 'a', input: null, daily: '10:00' }]],
  ['overlp', 'schedule', [small, { id: 'a', input: null, daily: '10:00', overlp: 'skip' }]],
  ['id', 'schedule', [small, { input: null, daily: '10:00' }]],
  ['options', 'effect', []],
  ['run', 'effect', [{ name: 'charge' }]],
  ['reconsile', 'effect', [{ name: 'charge', run() {}, reconsile() {} }]],
  ['onUnknown', 'effect', [{ name: 'charge', run() {}, onUnknown: 'retry' }]],
  ['options', 'pawl', []],
  ['options', 'runStates', []],
])('%s is what a definition is refused for: %s', async (option, define, said) => {
  await expect(say({ effect, pawl, runStates, schedule }, define, said)).rejects.toEqual(refused(option));
});

test.each<[option: string, call: string, said: readonly unknown[]]>([
  ['workflowName', 'track', [{}]],
  ['runid', 'track', [{ workflowName: 'deploy', runid: 'a' }]],
  ['workflowName', 'list', [{ workflowName: 'deploy' }]],
  ['status', 'list', [{ status: 'done' }]],
  ['isalive', 'markInterrupted', ['restart', { isalive: () => true }]],
  ['by', 'reconcile', [JOB, { outcome: 'done', reason: 'seen', by: 'me' }]],
  ['state', 'end', [JOB, { state: 'failed' }]],
])('RST-1 the states of runs have no use for it, either: %s of %s', async (option, call, said) => {
  const runs = await runStates({ store: 'memory:', log: silent });
  opened.push(runs);
  await expect(say(runs, call, said)).rejects.toEqual(refused(option));
  expect(await runs.list()).toEqual([]);
});
