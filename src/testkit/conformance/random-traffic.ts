import {
  canonicalJson,
  claimableAt,
  effectDecisionWait,
  laneOf,
  wakesAt,
  type Command,
  type CommandOf,
  type Job,
} from '../../kernel/index.js';
import type { NewOutboxEntry, Store } from '../../ports/store.js';
import type { Random } from '../../ports/random.js';
import { aFailure, aFatalFailure, aWait, command } from '../sample-commands.js';
import { aJobSpec } from '../sample-job.js';
import type { Rig } from './rig.js';

const TENANTS = ['acme', 'globex', 'initech'] as const;
const LANES = [laneOf(aJobSpec()), laneOf(aJobSpec({ task: 'mail' }))];

/** One operation, as the numbers that say what it is: whatever they are, it is some operation. */
export type Draws = readonly number[];

/** As many as any operation looks at. */
export const DRAWS = 12;

/**
 * Operations on a few jobs of one store, each answered in words. Two stores that are given the same must say the same:
 * that is how a store is held against the memory store. Each operation has numbers of its own, so that a sequence that
 * fails still fails when operations that do not matter are taken out of it.
 */
export async function randomTraffic(rig: Rig, operations: readonly Draws[]): Promise<string[]> {
  const { store, clock } = rig;
  const said: string[] = [];
  const ids: string[] = [];

  const say = (what: string, answer: unknown): void => {
    said.push(`${what} ${canonicalJson(JSON.stringify(answer))}`);
  };

  const operation = async (n: number, random: Random): Promise<void> => {
    const pick = <T>(...options: readonly [T, ...T[]]): T =>
      options[random.int(options.length)] ?? options[0];
    const jobId = ids.length > 0 ? (ids[random.int(ids.length)] ?? '') : '';
    switch (random.int(15)) {
      case 0:
      case 1: {
        const id = `job_random_${n}`;
        const spec = {
          tenantId: pick(...TENANTS),
          task: pick('order', 'mail'),
          priority: random.int(3),
          concurrencyKey: pick(null, '', 'a', 'b'),
          scheduledAt: clock.now() + pick(0, 0, 700),
        };
        const key = { tenantId: spec.tenantId, kind: 'key' as const, value: `k${random.int(40)}` };
        const reply = await rig.give(id, rig.createCommand(id, spec), {
          identities: [key],
          outbox: pick<readonly NewOutboxEntry[]>(
            [],
            [{ entryId: id, kind: 'callback', dueAt: clock.now(), body: '1' }],
          ),
        });
        if (reply.ok) ids.push(id);
        return say('create', reply);
      }
      case 2:
      case 3: {
        const { alive, jobs, lastTenant } = await rig.claim(pick('worker-a', 'worker-b'), {
          limit: 1 + random.int(4),
          lanes: LANES,
          keyLimit: pick(null, 1, 2),
          tenantLimit: pick(null, null, 1, 3),
          rate: pick(null, { name: 'order', limit: 3, perMs: 1_000 }),
          ratePerTenant: pick(true, false),
          afterTenant: pick('', 'acme', 'globex'),
        });
        return say('claim', [alive, lastTenant, jobs.map(({ spec, attemptId }) => [spec.jobId, attemptId])]);
      }
      case 4:
        clock.advance(pick(1, 400, 2_000, 31_000));
        return say(
          'orphans',
          (await store.orphans({ limit: 3 })).jobs.map(({ job }) => job.spec.jobId),
        );
      case 5:
        return say('put', await store.putMessage({ jobId, key: pick('approval', 'go'), payload: `${n}` }));
      case 6:
        return say(
          'effect',
          await store.putEffect({
            jobId,
            step: 'charge',
            occurrence: 1,
            entry: 1 + random.int(2),
            result: pick(null, `${n}`),
          }),
        );
      case 8: {
        const hold = { jobIds: [jobId], reason: 'r', by: 'operator:a' };
        const { changed } = await (random.int(3) === 0 ? store.hold(hold) : store.release([jobId]));
        return say('hold', changed);
      }
      case 9: {
        await store.pauseQueue({ queue: 'default', paused: random.int(4) === 0, by: 'operator:a' });
        return say('paused', (await store.pausedQueues()).queues);
      }
      case 10: {
        const { entries } = await store.takeOutbox({ kind: 'callback', limit: 2, leaseMs: 1_000 });
        const settled = entries.slice(1).map(({ entryId }) => ({ entryId, outcome: 'done' as const }));
        await store.settleOutbox(settled);
        return say('outbox', entries);
      }
      case 7:
        return say('due', (await store.due({ limit: 5, except: [] })).jobIds);
      default: {
        const { found } = await store.load(jobId);
        if (!found) return say('load', null);
        return say('command', await rig.tryToGive(jobId, nextCommand(found.job, { now: clock.now(), pick })));
      }
    }
  };

  for (const [n, draws] of operations.entries()) await operation(n, drawn(draws));
  await describeAll(store, ids, say);
  return said;
}

function drawn(draws: Draws): Random {
  let next = 0;
  return { int: (below) => (draws[next++] ?? 0) % below };
}

type Pick = <T>(...options: readonly [T, ...T[]]) => T;

/** Something that may well happen to the job as it stands. */
function nextCommand(job: Job, { now, pick }: { now: number; pick: Pick }): Command {
  const held = { attemptId: job.attemptId ?? 'nobody/0', now };
  if (job.status !== 'running') {
    const due = Math.max(now, claimableAt(job) ?? now, wakesAt(job) ?? now);
    return pick<Command>(
      command('signal', { now }),
      command('expire-waits', { now: due }),
      command('complete-wait', { now }),
      command('resolve-effect', { now }),
      command('cancel', { now }),
      command('abort-recovery', { now }),
      command('promote', { now }),
    );
  }
  return pick<Command>(
    command('record-step', { ...held, step: pick('a', 'b'), occurrence: pick(1, 2, 3) }),
    command('record-step', { ...held, step: pick('a', 'b'), occurrence: pick(1, 2, 3) }),
    command('begin-effect', held),
    command('record-effect', held),
    command('doubt-effect', held),
    command('begin-wait', {
      ...held,
      waits: [
        pick(
          aWait({ expiresAt: now + 500 }),
          effectDecisionWait({ step: 'charge', occurrence: 1, entry: 1 }),
        ),
      ],
    }),
    command('interrupt', {
      ...held,
      cause: pick<CommandOf<'interrupt'>['cause']>(
        { reason: 'lease_expired', leaseUntil: null },
        { reason: 'drained' },
      ),
    }),
    command('fail-attempt', { ...held, failure: pick(aFailure, aFatalFailure) }),
    command('complete', held),
  );
}

async function describeAll(
  store: Store,
  ids: readonly string[],
  say: (what: string, answer: unknown) => void,
): Promise<void> {
  let logged = 0;
  for (const id of ids) {
    say('job', (await store.load(id)).found);
    const { rows: log } = await store.log(id, { fromRev: 1, limit: 1_000 });
    say('log', log);
    logged += log.length;
    say('inbox', await store.inbox(id));
    say('effects', await store.effects(id));
  }
  say(
    'list',
    (await store.list({ tenantId: null, statuses: null, task: null, limit: 50, cursor: null })).rows,
  );
  say('counts', (await store.counts({ tenantId: null })).counts);
  say('retrying', (await store.retrying({ atLeast: 1 })).tenants);
  say('live counts', (await store.liveCounts()).counts);
  say('open letters', (await store.dlqOpen()).tenants);
  for (const tenantId of TENANTS) say('live', (await store.countLive({ tenantId, atMost: 20 })).count);
  say('entered', (await store.dlqEntered({ from: 0, until: Number.MAX_SAFE_INTEGER, atLeast: 1 })).tenants);
  const rows = await feedOf(store, logged);
  const places = new Map(
    ids.map((id) => [id, rows.filter(({ jobId }) => jobId === id).map(({ rev }) => rev)]),
  );
  say('feed', [...places]);
  say(
    'dlq',
    (await store.dlq({ tenantId: null, status: null, after: null, limit: 100 })).items
      .map(({ dlqId }) => dlqId)
      .toSorted(),
  );
}

/** How often a feed that lags is read again. */
const MOST_READS = 10_000;

/** The feed, once it holds as much as the logs do: anybody's open transaction, a vacuum's too, may hold it back for a while. */
async function feedOf(store: Store, logged: number): Promise<readonly { jobId: string; rev: number }[]> {
  for (let reads = 1; ; reads++) {
    const { rows } = await store.feed({ after: null, limit: 10_000 });
    if (rows.length >= logged || reads === MOST_READS) return rows;
  }
}
