import { PawlError } from '../../errors.js';
import type { Job, WorkerRef } from '../../kernel/index.js';
import type { StoreClock } from '../../ports/clock.js';
import type { Beat, LogRow, Store } from '../../ports/store.js';
import { Channel, type Answer, type Kind } from './channel.js';
import { remoteCommits } from './remote-commits.js';
import { remoteEffects } from './remote-effects.js';
import { remoteWakeUps, WAIT_MS } from './remote-wake-ups.js';
import { unsupported } from './unsupported.js';

export type HttpStoreOptions = {
  /** Where the server is, such as `https://jobs.example.com`. */
  readonly url: string;
  /** Of the role operator. Null where the server takes requests of its own machine without one. */
  readonly key: string | null;
  readonly clock: Pick<StoreClock, 'after'>;
};

/** Whose jobs these are, and what the names of this key's workers begin with. */
export type RemoteSession = { readonly tenantId: string; readonly namedUnder: string };
export type HttpStore = { readonly store: Store; readonly session: RemoteSession };

/** An answer that takes longer is given up on, and asked for again by whoever needs it. */
const MOST_ANSWER_MS = 7_500;
const LEAST_ANSWER_MS = 500;
/** How much of the lease an answer may take: one that is lost must leave time to ask again. */
const LEASE_SHARE = 1 / 4;

type Head = { readonly job: Job; readonly link: string; readonly inbox_rev: number };

/** A store behind a server. It holds nothing itself: every call is a request, and the server decides. */
export async function httpStore({ url, key, clock }: HttpStoreOptions): Promise<HttpStore> {
  const channel = new Channel(url, key);
  let lastBeat: Beat | null = null;
  /** Of heartbeats: a short lease leaves less time. A claim is not cut short, for its jobs would lie idle. */
  let leaseAnswerMs = MOST_ANSWER_MS;

  const get = <T>(path: string): Promise<Answer<T>> =>
    channel.ask<T>({ kind: 'read', method: 'GET', path, timeoutMs: MOST_ANSWER_MS });
  const post = <T>(kind: Kind, path: string, value: unknown): Promise<Answer<T>> =>
    channel.ask<T>({
      kind,
      method: 'POST',
      path,
      body: JSON.stringify(value),
      timeoutMs: path === '/beat' ? leaseAnswerMs : MOST_ANSWER_MS,
    });
  const ofJob = (jobId: string, what = ''): string => `/jobs/${encodeURIComponent(jobId)}${what}`;

  const commit = remoteCommits((body) =>
    channel.ask({ kind: 'write', method: 'POST', path: '/commits', body, timeoutMs: MOST_ANSWER_MS }),
  );
  const wakeUps = remoteWakeUps(clock, {
    lastBeat: () => lastBeat,
    ask: (body, signal) =>
      channel.ask({
        kind: 'wakeUp',
        method: 'POST',
        path: '/wake-ups',
        body,
        signal,
        timeoutMs: WAIT_MS + MOST_ANSWER_MS,
      }),
  });

  const putEffect = remoteEffects((body) =>
    channel.ask({ kind: 'write', method: 'POST', path: '/effects', body, timeoutMs: MOST_ANSWER_MS }),
  );

  const hello = await get<{ tenant_id: string; named_under: string }>('').catch((error: unknown) => {
    channel.close();
    throw error;
  });

  const store: Store = {
    ...unsupported(),
    commit,
    async beat(beat) {
      const { worker, leaseMs, lanes } = beat;
      lastBeat = beat;
      leaseAnswerMs = Math.max(LEAST_ANSWER_MS, Math.min(MOST_ANSWER_MS, leaseMs * LEASE_SHARE));
      type Beaten = {
        alive: boolean;
        lease_until: number;
        held: readonly { job_id: string; attempt_id: string }[];
      };
      const answer = await post<Beaten>('lease', '/beat', { worker, lease_ms: leaseMs, lanes });
      const held = answer.held.map(({ job_id, attempt_id }) => ({ jobId: job_id, attemptId: attempt_id }));
      return { alive: answer.alive, leaseUntil: answer.lease_until, held, now: answer.now };
    },
    resign: (worker) => post('lease', '/resign', { worker }),
    async claim({ worker, lanes, limit, hasSuspect = false, except = [] }) {
      type Taken = {
        alive: boolean;
        jobs: readonly Head[];
        left_suspects: readonly string[];
        rate_free_at: number | null;
      };
      const { alive, jobs, left_suspects, rate_free_at, now } = await post<Taken>('lease', '/claim', {
        worker,
        limit,
        has_suspect: hasSuspect,
        except,
        lanes: lanes.map(({ lane, keyLimit, tenantLimit = null, rate, ratePerTenant = false }) => ({
          lane,
          key_limit: keyLimit,
          tenant_limit: tenantLimit,
          rate_per_tenant: ratePerTenant,
          rate: rate ? { name: rate.name, limit: rate.limit, per_ms: rate.perMs } : null,
        })),
      });
      const heads = jobs.map(({ link, inbox_rev }) => ({ link, inboxRev: inbox_rev }));
      return {
        now,
        alive,
        jobs: jobs.map(({ job }) => job),
        decided: { heads, leftSuspects: left_suspects },
        lastTenant: '',
        ...(rate_free_at === null ? {} : { rateFreeAt: rate_free_at }),
      };
    },
    async workers({ incarnations }) {
      type Entry = { worker: WorkerRef; lease_until: number; dead: boolean };
      const { workers, now } = await post<{ workers: readonly Entry[] }>('read', '/workers', {
        incarnations,
      });
      return {
        now,
        workers: workers.map(({ worker, lease_until, dead }) => ({
          worker,
          leaseUntil: lease_until,
          dead,
          lanes: [],
        })),
      };
    },
    putEffect,
    async putMessage({ jobId, key: name, payload }) {
      return post('write', '/messages', { job_id: jobId, key: name, payload });
    },
    async effects(jobId) {
      type Stored = { step: string; occurrence: number; entry: number; result: string | null };
      const { results, now } = await get<{ results: readonly Stored[] }>(ofJob(jobId, '/effects'));
      return { now, results: results.map((result) => ({ jobId, ...result })) };
    },
    async inbox(jobId) {
      type Kept = { key: string; payload: string; received_at: number };
      const { messages, inbox_rev, now } = await get<{ messages: readonly Kept[]; inbox_rev: number }>(
        ofJob(jobId, '/inbox'),
      );
      return {
        now,
        inboxRev: inbox_rev,
        messages: messages.map(({ received_at, ...kept }) => ({ jobId, ...kept, receivedAt: received_at })),
      };
    },
    async load(jobId) {
      const found = await orNothing(get<Head>(ofJob(jobId)));
      if (found === null) return { found: null, now: (await get('')).now };
      const { job, link, inbox_rev, now } = found;
      return { now, found: { job, link, inboxRev: inbox_rev } };
    },
    /** Of names, only who has taken a job's place: what a handler may begin depends on that. */
    async resolve(identities) {
      if (identities.some(({ kind }) => kind !== 'successor')) return unsupported().resolve(identities);
      type Successor = { job_id: string | null };
      const asked = identities.map(({ value }) => orNothing(get<Successor>(ofJob(value, '/successor'))));
      const found = await Promise.all(asked);
      const now = found.at(-1)?.now ?? (await get('')).now;
      return { now, jobIds: found.map((one) => one && one.job_id) };
    },
    async log(jobId, { fromRev, limit }) {
      type Row = { rev: number; command_id: string; body: string; link: string };
      const rows: LogRow[] = [];
      for (;;) {
        const page: Answer<{ rows: readonly Row[]; more: boolean }> | null = await orNothing(
          get(ofJob(jobId, `/log?from_rev=${fromRev + rows.length}&limit=${limit - rows.length}`)),
        );
        if (page === null) return { rows, now: (await get('')).now };
        for (const { command_id, ...row } of page.rows) rows.push({ jobId, ...row, commandId: command_id });
        if (!page.more) return { rows, now: page.now };
      }
    },
    /** Callbacks are the server's to send, so that nobody here has to know who subscribed. */
    async records({ kind }) {
      if (kind !== 'subscription') return unsupported().records(NO_FILTER);
      return { records: [], now: (await get('')).now };
    },
    wake: wakeUps.wake,
    listen: wakeUps.listen,
    async close() {
      await wakeUps.stop();
      channel.close();
    },
  };
  return { store, session: { tenantId: hello.tenant_id, namedUnder: hello.named_under } };
}

const NO_FILTER = { kind: 'audit', tenantId: null, after: null, limit: 1 } as const;

/** Null for a job that is not there, or not ours. */
async function orNothing<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof PawlError && error.code === 'JOB_NOT_FOUND') return null;
    throw error;
  }
}
