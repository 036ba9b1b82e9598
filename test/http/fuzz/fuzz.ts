import fc from 'fast-check';
import { PawlError } from '../../../src/errors.js';
import { fatal, task } from '../../../src/index.js';
import { ROUTES } from '../../../src/http/route-table.js';
import type { Logger } from '../../../src/ports/logger.js';
import type { Store } from '../../../src/ports/store.js';
import type { FakeClock } from '../../../src/testkit/index.js';
import { ApiRig, expectContract, routeOf } from '../api-rig.js';
import { sampleOf, type Sample } from '../sample-requests.js';
import { recordingStore } from './recording-store.js';
import { requestsFor, type Fuzzed } from './requests.js';

export type FuzzReport = {
  readonly requests: number;
  readonly byStatus: Readonly<Record<string, number>>;
  readonly errors: readonly string[];
  /** Bytes of heap after a fifth of the requests, and at the end. */
  readonly heap: readonly [number, number];
};

const tasks = [
  task({ name: 'w' }, ({ input }) => input),
  task({ name: 'echo' }, ({ input }) => input),
  task({ name: 'fails' }, () => {
    throw fatal(new Error('no'));
  }),
];
const courier = {
  check: async (url: string) => {
    if (!url.startsWith('https://example.com')) throw new PawlError('CALLBACK_URL_INVALID', { detail: 'no' });
  },
  deliver: async () => ({ ok: true }) as never,
};

/** Sends requests that were made from the route table, and says all that is wrong with the answers. */
export async function fuzz(
  inner: Store,
  {
    clock,
    count,
    seed,
    collect = () => undefined,
  }: { clock: FakeClock; count: number; seed: number; collect?: () => void },
): Promise<FuzzReport> {
  const { store, changes } = recordingStore(inner);
  const logged: string[] = [];
  const quiet = () => undefined;
  const log: Logger = {
    debug: quiet,
    info: quiet,
    warn: quiet,
    error: (text, facts) => logged.push(`${text} ${String((facts as { error?: Error })?.error?.stack)}`),
  };
  const rig = await ApiRig.start({ store, clock, tasks, courier, log });
  const ids = new KnownIds(await sampleOf(rig));
  const byStatus: Record<string, number> = {};
  const errors: string[] = [];
  const perRoute = Math.ceil(count / ROUTES.length);
  const ROUND = 50;
  let sent = 0;
  let early = 0;
  for (let round = 0; sent < count && errors.length < 10; round++) {
    for (const [index, route] of ROUTES.entries()) {
      const batch = Math.min(ROUND, perRoute - round * ROUND);
      for (const request of fc.sample(requestsFor(route), {
        numRuns: Math.max(batch, 0),
        // Of its own for each route: with one for all, all of them get the same kinds of mistakes.
        seed: seed + round * ROUTES.length + index,
      })) {
        const before = changes();
        const { status, problem } = await sendOne(rig, request, ids);
        sent += 1;
        byStatus[status] = (byStatus[status] ?? 0) + 1;
        const stored = changes() - before;
        const wrong =
          problem ??
          (status >= 500 ? 'a server error' : status >= 400 && stored > 0 ? `stored ${stored}` : null);
        if (wrong !== null)
          errors.push(`${wrong}: ${status} ${describe(request)} ${logged.splice(0).join(' ')}`);
      }
    }
    if (early === 0 && sent >= count / 5) early = heapAfter(collect);
  }
  const report = { requests: sent, byStatus, errors, heap: [early, heapAfter(collect)] as const };
  await rig.stop();
  return report;
}

function heapAfter(collect: () => void): number {
  collect();
  return process.memoryUsage().heapUsed;
}

const describe = ({ body, ...rest }: Fuzzed): string =>
  `${JSON.stringify(rest)} ${typeof body === 'string' ? body.slice(0, 300) : String(body?.length ?? 'no body')}`;

/** What there is by now, for later requests. */
class KnownIds {
  readonly #ids = new Map<string, string[]>();

  constructor(sample: Sample) {
    const { jobId, failedId, taskId, dlqId, scheduleId, subscriptionId } = sample;
    const none = { key_id: 'no-key', queue: 'default' };
    const first = {
      job_id: jobId,
      run_id: failedId,
      task_id: taskId,
      dlq_id: dlqId,
      schedule_id: scheduleId,
      subscription_id: subscriptionId,
    };
    this.learn({ ...first, ...none });
  }

  at(kind: string, n: number): string {
    const known = this.#ids.get(kind) ?? [...this.#ids.values()].flat();
    return known[n % known.length] ?? '';
  }

  learn(data: Record<string, unknown> = {}): void {
    for (const [name, id] of Object.entries({ run_id: data['job_id'], job_id: data['run_id'], ...data })) {
      if (typeof id !== 'string' || !/_id$|^queue$/.test(name) || id.length > 200) continue;
      const known = this.#ids.get(name) ?? [];
      this.#ids.set(name, known);
      if (known.length < MOST_KNOWN) known.push(id);
      else known[id.charCodeAt(id.length - 1) % MOST_KNOWN] = id;
    }
  }
}

const MOST_KNOWN = 200;

async function sendOne(
  rig: ApiRig,
  { method, path, headers, key, body, chunked }: Fuzzed,
  ids: KnownIds,
): Promise<{ status: number; problem: string | null }> {
  const target = path.replaceAll(/@(\w+):(\d+)@/g, (_all, kind: string, n: string) =>
    encodeURIComponent(ids.at(kind, Number(n))),
  );
  const token = key === null ? null : (rig.keys[key] ?? key);
  const sent = new Headers({ ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...headers });
  const withBody = body !== null && method !== 'GET' && method !== 'HEAD';
  if (withBody && !chunked) sent.set('content-length', String(Buffer.byteLength(body)));
  const request = new Request(`${rig.url}${target}`, {
    method,
    headers: sent,
    ...(withBody ? { body: chunked ? inParts(body) : body, duplex: 'half' } : {}),
  });
  const sending = rig.send(request);
  const response = /wait_ms|\/dlq\/requeue/.test(target) ? await inTime(rig, sending) : await sending;
  const { status } = response;
  if (method === 'HEAD') return { status, problem: null };
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
    await response.body?.cancel();
    return { status, problem: null };
  }
  const isText = response.headers.get('content-type')?.startsWith('text/plain') ?? false;
  if (isText) return { status, problem: (await response.text()).startsWith('# HELP') ? null : 'no metrics' };
  try {
    const answer = (await response.json()) as { data?: Record<string, unknown> };
    if (routeOf(method, target.split('?', 1)[0] ?? '') || status >= 400)
      expectContract(method, target, status, answer);
    ids.learn(answer.data);
    return { status, problem: null };
  } catch (error) {
    return { status, problem: error instanceof Error ? error.message.slice(0, 500) : 'odd' };
  }
}

function inParts(body: string | Uint8Array): ReadableStream<Uint8Array> {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  return new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += 65_536) controller.enqueue(bytes.subarray(at, at + 65_536));
      controller.close();
    },
  });
}

/** For requests that wait for time to pass: it does, once nothing has happened for a while. */
async function inTime(rig: ApiRig, answer: Promise<Response>): Promise<Response> {
  const state = { isOver: false };
  const end = (): void => void (state.isOver = true);
  answer.then(end, end);
  for (let turn = 1; !state.isOver; turn++) {
    await new Promise(setImmediate);
    const { clock } = rig.app;
    if (turn % PATIENCE_TURNS === 0 && clock.nextAt !== null) clock.advance(clock.nextAt - clock.now());
  }
  return answer;
}

/** Longer than a database takes to answer, on the whole. */
const PATIENCE_TURNS = 2_000;
