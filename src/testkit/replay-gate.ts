import { pawl } from '../client/pawl.js';
import type { JobHandle } from '../client/job-handle.js';
import { task } from '../client/task.js';
import { errorCodeIn, jobs, statusChangesOf } from '../contracts/index.js';
import { readLog } from '../engine/read-log.js';
import { changesOf, decide, NO_STEPS } from '../kernel/index.js';
import type { Store } from '../ports/store.js';

/** What one case left behind. */
export type GateCase = {
  readonly case: string;
  readonly passed: boolean;
  readonly trace_id: string;
  readonly job_id: string;
  readonly retry_count: number;
  readonly status_transition: string;
  readonly dlq_id: string | null;
  /** What was expected and did not come; null if all came. */
  readonly problem: string | null;
};

type Expectation = {
  readonly name: string;
  readonly failures: number;
  readonly path: string;
  readonly retryCount: number;
  /** A second terminal write must be refused. */
  readonly writesTwice?: boolean;
};

const RETRY = 'retrying→running';
const CASES: readonly Expectation[] = [
  { name: 'RP-001', failures: 0, path: 'queued→running→succeeded', retryCount: 0 },
  { name: 'RP-002', failures: 1, path: `queued→running→${RETRY}→succeeded`, retryCount: 1 },
  { name: 'RP-003', failures: 3, path: `queued→running→${RETRY}→${RETRY}→${RETRY}→succeeded`, retryCount: 3 },
  {
    name: 'RP-004',
    failures: 4,
    path: `queued→running→${RETRY}→${RETRY}→${RETRY}→dlq_pending→dlq_recorded→failed`,
    retryCount: 3,
  },
  { name: 'RP-005', failures: 0, path: 'queued→running→succeeded', retryCount: 0, writesTwice: true },
];

const PATIENCE = { timeout: '60s' } as const;

/**
 * Runs the replay cases with a worker of its own, on a queue of its own, so that they disturb nobody on the store. Their
 * jobs stay there, as evidence.
 */
export async function replayGate(store: Store, onCase: (done: GateCase) => void): Promise<GateCase[]> {
  const failing = task(
    { name: 'pawl.replay-gate', queue: 'pawl.replay-gate', retry: { baseMs: 1, jitterMs: 0 } },
    ({ input, job }) => {
      if (job.retryCount < (input as { failures: number }).failures) throw new Error('a transient error');
      return 'done';
    },
  );
  // It belongs to whoever opened it.
  const kept = new Proxy(store, {
    get: (target, name: keyof Store) => (name === 'close' ? async () => undefined : target[name]),
  });
  const app = await pawl({ store: kept, tasks: [failing] });
  try {
    await app.work({ poll: '100ms', stopOnSignal: false });
    const done: GateCase[] = [];
    for (const expected of CASES) {
      const { job } = await app.start(failing, { case: expected.name, failures: expected.failures });
      const ended = await judge(store, job, expected);
      onCase(ended);
      done.push(ended);
    }
    return done;
  } finally {
    await app.close();
  }
}

async function judge(store: Store, handle: JobHandle<string>, expected: Expectation): Promise<GateCase> {
  await handle.result(PATIENCE).catch(() => undefined);
  const job = await handle.status();
  const changes = changesOf(await readLog(store, handle.id));
  const path = statusChangesOf(jobs, changes)
    .map(({ to }) => to)
    .join('→');
  const dlqId = job.deadLetter?.dlqId ?? null;
  const problems = [
    path === expected.path ? null : `the transitions should be ${expected.path}`,
    job.retryCount === expected.retryCount ? null : `retry_count should be ${expected.retryCount}`,
    job.status !== 'failed' || (await isListed(store, dlqId)) ? null : 'its dead-letter item is missing',
    expected.writesTwice ? await secondWrite(store, handle) : null,
  ].filter((problem) => problem !== null);
  return {
    case: expected.name,
    passed: problems.length === 0,
    trace_id: job.spec.traceId,
    job_id: job.spec.jobId,
    retry_count: job.retryCount,
    status_transition: path,
    dlq_id: dlqId,
    problem: problems.length === 0 ? null : problems.join('; '),
  };
}

async function isListed(store: Store, dlqId: string | null): Promise<boolean> {
  return dlqId !== null && (await store.dlqItem(dlqId)).item !== null;
}

/** The attempt that ended the job tries to end it again. */
async function secondWrite(store: Store, { id }: { id: string }): Promise<string | null> {
  const { found, now } = await store.load(id);
  const attemptId = found?.job.attemptId ?? '';
  const again = { type: 'complete', now, actor: 'client', attemptId, result: '"again"' } as const;
  const answer = decide(found && found.job, again, NO_STEPS);
  const code = answer.ok ? 'accepted' : errorCodeIn('jobs', answer.code);
  return code === 'WF_STATE_TRANSITION_INVALID' ? null : `a second terminal write was answered with ${code}`;
}
