import { PawlError } from '../../errors.js';
import { Pawl, type EffectDecision } from '../../client/app.js';
import { schedule } from '../../client/schedules.js';
import { cancelJob } from '../../engine/operator.js';
import { signalJob } from '../../engine/signal-job.js';
import type { Status } from '../../kernel/index.js';
import type { Acknowledged } from '../check/acknowledged.js';
import type { StoreWatch } from '../check/store-watch.js';
import type { Hits } from '../hits.js';
import type { Host } from '../host.js';
import type { Operation } from '../plan.js';
import type { Outside } from './outside.js';
import { keysOf, type WorkInput } from './program.js';
import type { SimTask, TaskName } from './tasks.js';

/** A client's process, as an operation finds it. */
export type Client = {
  readonly host: Host;
  readonly app: Pawl;
  readonly tasks: Readonly<Record<TaskName, SimTask>>;
};

export type OperateParts = {
  readonly hits: Hits;
  readonly watch: StoreWatch;
  readonly outside: Outside;
  readonly acknowledged: Acknowledged;
};

/** Does it. What the client is told is remembered; that it is refused, or not answered, is in the nature of things. */
export async function operate(parts: OperateParts, client: Client, operation: Operation): Promise<void> {
  parts.hits.add('feature', `operation ${operation.do}`);
  try {
    await perform(parts, client, operation);
  } catch (error) {
    noteRefusal(parts, operation.do, error);
  }
}

async function perform(parts: OperateParts, client: Client, operation: Operation): Promise<void> {
  const { app, host } = client;
  const { engine } = Pawl.inside(app);
  switch (operation.do) {
    case 'start':
      return start(parts, client, operation);
    case 'signal':
      return signal(parts, client, operation);
    case 'cancel':
      return cancel(parts, client, operation);
    case 'abandon':
      return abandon(parts, client, operation);
    case 'foreign':
      return foreign(parts, client, operation.pick);
    case 'hold': {
      const jobId = pickJob(parts, operation.pick);
      if (jobId === null) return;
      await engine.store.hold({ jobIds: [jobId], reason: 'simulated', by: 'operator' });
      await host.sleep(2_000);
      await engine.store.release([jobId]);
      return;
    }
    case 'pause':
      await engine.store.pauseQueue({ queue: operation.queue, paused: true, by: 'operator' });
      await host.sleep(operation.forMs);
      await engine.store.pauseQueue({ queue: operation.queue, paused: false, by: 'operator' });
      return;
    case 'settle':
      return settleEffects(parts, client);
    case 'requeue': {
      const [item] = await app.deadLetters.list({ limit: 1 });
      if (item === undefined) return;
      const keepRecorded = operation.pick % 2 === 0;
      const how = { keepRecorded, repeatEffects: !keepRecorded };
      const both = [app.deadLetters.requeue(item.dlqId, { by: 'ann', ...how })];
      if (operation.twice) both.push(app.deadLetters.requeue(item.dlqId, { by: 'bob', ...how }));
      for (const { id } of await answersTo(parts, operation.do, both))
        parts.acknowledged.requeued(item.dlqId, id);
      return;
    }
    case 'discard': {
      const [item] = await app.deadLetters.list({ limit: 1 });
      if (item === undefined) return;
      await app.deadLetters.askDiscard(item.dlqId, { by: 'ann', reason: 'simulated' });
      const by = operation.twice ? 'ann' : 'bob';
      await app.deadLetters.approveDiscard(item.dlqId, { by });
      parts.acknowledged.discarded(item.dlqId, by);
      return;
    }
    case 'schedule': {
      const { id, everyMs, overlap, catchUp, program } = operation;
      const input: WorkInput = { program, key: null, rounds: 0 };
      await app.schedules.put(schedule(client.tasks.plain, { id, every: everyMs, overlap, catchUp, input }));
      return;
    }
  }
}

async function start(
  { acknowledged }: OperateParts,
  { app, tasks }: Client,
  operation: Extract<Operation, { do: 'start' }>,
): Promise<void> {
  const { task, tenantId, program, rounds, key, scope, delayMs, priority, concurrencyKey } = operation;
  const input: WorkInput = { program, rounds, key: concurrencyKey };
  const { job, idempotentHit } = await app.start(tasks[task], input, {
    tenantId,
    priority,
    ...(key === null ? {} : { idempotencyKey: key }),
    ...(scope === null ? {} : { scope }),
    ...(delayMs === 0 ? {} : { delay: delayMs }),
  });
  acknowledged.started(job.id, { tenantId, scope, key, task, idempotentHit, input: JSON.stringify(input) });
  if (!operation.awaited) return;
  const result = await job.result({ timeout: 60_000 });
  acknowledged.result(job.id, JSON.stringify(result));
}

async function signal(
  parts: OperateParts,
  { app }: Client,
  { pick, twice }: { pick: number; twice: boolean },
): Promise<void> {
  const jobId = pickJob(parts, pick);
  const job = jobId === null ? null : parts.watch.jobOf(jobId);
  if (jobId === null || job === null) return;
  const keys = keysOf((JSON.parse(job.input) as WorkInput).program);
  const key = keys[pick % Math.max(1, keys.length)] ?? 'k9';
  const payload = `signal ${pick}`;
  const open = job.waits.some((wait) => wait.key === key);
  parts.hits.add('feature', open ? 'signal to a waiting job' : 'early signal');
  const handle = app.job(jobId);
  const sent = [handle.signal(key, payload), ...(twice ? [handle.signal(key, payload)] : [])];
  const first = (await answersTo(parts, 'signal', sent)).filter((answer) => answer !== 'repeated');
  parts.acknowledged.signalledTwice(jobId, key, first.length);
  if (first.length > 0) parts.acknowledged.signalled(jobId, key, JSON.stringify(payload));
}

async function cancel(
  parts: OperateParts,
  { app }: Client,
  { pick, twice }: { pick: number; twice: boolean },
): Promise<void> {
  const jobId = pickJob(parts, pick);
  if (jobId === null) return;
  const handle = app.job(jobId);
  const sent = [handle.cancel({ reason: 'simulated' }), ...(twice ? [handle.cancel()] : [])];
  const answers = await answersTo(parts, 'cancel', sent);
  parts.acknowledged.endedTwice(jobId, answers.length);
  if (answers.length > 0) parts.acknowledged.cancelled(jobId);
}

async function abandon(
  parts: OperateParts,
  { app }: Client,
  { pick, twice }: { pick: number; twice: boolean },
): Promise<void> {
  const jobId = pickJob(parts, pick, MAY_FAIL);
  if (jobId === null) return;
  const why = { by: 'ann', reason: 'simulated' };
  const sent = [app.abandon(jobId, why), ...(twice ? [app.abandon(jobId, why)] : [])];
  const answers = await answersTo(parts, 'abandon', sent);
  parts.acknowledged.endedTwice(jobId, answers.length);
  if (answers.length > 0) parts.acknowledged.abandoned(jobId);
}

/** What somebody was told who asked once, or more often at once. Each that came to nothing is looked at by itself. */
async function answersTo<T>(
  { acknowledged, hits }: OperateParts,
  asked: Operation['do'],
  sent: readonly Promise<T>[],
): Promise<T[]> {
  const answers: T[] = [];
  for (const answer of await Promise.allSettled(sent)) {
    if (answer.status === 'fulfilled') answers.push(answer.value);
    else noteRefusal({ acknowledged, hits }, asked, answer.reason);
  }
  return answers;
}

function noteRefusal(
  { acknowledged, hits }: Pick<OperateParts, 'acknowledged' | 'hits'>,
  asked: Operation['do'],
  error: unknown,
): void {
  acknowledged.refused(asked, error);
  if (error instanceof PawlError) hits.add('feature', `answer ${error.code}`);
}

/** Another tenant's word must not count, and must not even be told from one about a job that is not there. */
async function foreign(parts: OperateParts, { app }: Client, pick: number): Promise<void> {
  const jobId = pickJob(parts, pick);
  if (jobId === null) return;
  const { engine } = Pawl.inside(app);
  const tenantId = 'stranger';
  const answers = await Promise.allSettled([
    cancelJob(engine, jobId, { tenantId, actor: 'client', reason: null }),
    signalJob(engine, { jobId, key: 'k0', payload: '1', tenantId }),
  ]);
  for (const answer of answers) {
    const code = answer.status === 'rejected' ? (answer.reason as { code?: string }).code : 'accepted';
    parts.acknowledged.answeredStranger(jobId, code ?? 'an error without a code');
  }
}

/** Decides on effects that nobody else could decide on, by what really happened. */
export async function settleEffects(parts: OperateParts, { app, host }: Client): Promise<void> {
  const { hits, outside, watch } = parts;
  for (const { jobId, step, occurrence, entry } of await app.unknownEffects()) {
    const key = watch.effects.keyOf({ jobId, step, occurrence }) ?? '';
    const denied = watch.effects.asked(null, key);
    const result = outside.resultOf(key);
    const decision: EffectDecision =
      result !== null
        ? { verdict: 'happened', result }
        : host.chance(30)
          ? { verdict: 'fail' }
          : { verdict: 'notHappened' };
    hits.add('feature', `operator: ${decision.verdict}`);
    if (decision.verdict === 'notHappened') denied();
    try {
      await app.resolveEffect(jobId, { step, occurrence, entry, by: 'ann', ...decision });
    } catch (error) {
      if (!(error instanceof PawlError)) throw error;
      hits.add('feature', `answer ${error.code}`);
    }
  }
}

type Statuses = ReadonlySet<Status | undefined>;
const MAY_FAIL: Statuses = new Set<Status>(['running', 'retrying', 'interrupted']);

/** One of the jobs that have not ended, children included; the oldest first. `of`: one in these states, if there is one. */
function pickJob({ watch }: OperateParts, pick: number, of: Statuses = new Set()): string | null {
  const live = [...watch.live];
  const meant = live.filter((jobId) => of.has(watch.jobOf(jobId)?.status));
  const among = meant.length > 0 ? meant : live;
  return among[pick % Math.max(1, among.length)] ?? null;
}
