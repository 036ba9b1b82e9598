import { PawlError } from '../errors.js';
import { stepKey, type ContinuedRef, type StepRef, type Wait } from '../kernel/index.js';
import { childIdOf, childStart, childWaitKey, type ChildEnd } from '../engine/child-mail.js';
import { childContinuation } from '../engine/inherited.js';
import { newJob, type StartOptions } from '../engine/new-job.js';
import { rejectionError } from '../engine/rejection-error.js';
import type { Execution } from './execution.js';
import { never } from './never.js';
import type { TaskDefinition } from './task-definition.js';

/** What a parent may say about its child. Its identity, tenant and trace follow from the parent. */
export type CallOptions = Pick<StartOptions, 'delay' | 'queue' | 'priority' | 'deadline'>;

/** Starts a child job once, and waits for its end. */
export async function callStep(
  execution: Execution,
  name: string,
  task: TaskDefinition,
  { input, options }: { input: unknown; options: CallOptions },
): Promise<unknown> {
  if (execution.attempt.isOver) return never();
  const ref = execution.begin(name, 'call');
  const wait: Wait = { ...ref, key: childWaitKey(ref), kind: 'child', reason: task.name, expiresAt: null };
  const end = await endOf(execution, wait, task, { input, options }).finally(() => execution.end(ref));
  if (end?.status === 'succeeded') return JSON.parse(end.result) as unknown;
  throw new PawlError('CHILD_FAILED', {
    detail:
      end?.status === 'failed'
        ? `child '${task.name}' of step '${stepKey(ref)}' failed with ${end.code}: ${end.message}`
        : `child '${task.name}' of step '${stepKey(ref)}' was cancelled`,
    details: {
      step: stepKey(ref),
      status: end?.status ?? null,
      code: end?.status === 'failed' ? end.code : null,
    },
  });
}

async function endOf(
  execution: Execution,
  wait: Wait,
  task: TaskDefinition,
  call: { input: unknown; options: CallOptions },
): Promise<ChildEnd | null> {
  await startOnce(execution, wait, task, call);
  const { payload } = await execution.waits.wait(wait);
  return JSON.parse(payload ?? 'null') as ChildEnd | null;
}

async function startOnce(
  execution: Execution,
  wait: Wait,
  task: TaskDefinition,
  { input, options }: { input: unknown; options: CallOptions },
): Promise<void> {
  const { attempt, engine, replay, inherited } = execution;
  const { job } = attempt;
  const read = await execution.during(() => task.readInput(input, `the input of child '${task.name}'`));
  const { spec } = newJob(engine, task, {
    input: read.text,
    concurrencyKey: task.concurrency?.key(read.value) ?? null,
    options: { ...options, tenantId: job.spec.tenantId, traceId: job.spec.traceId },
    parent: { ...wait, jobId: job.spec.jobId, childId: childIdOf(job, wait) },
  });
  const known = attempt.steps.get(wait);
  if (known !== undefined) {
    const child = known.kind === 'wait' ? (known.child ?? inherited?.child(wait)) : null;
    if (child?.task !== task.name || child.inputHash !== spec.inputHash) {
      return replay.leave(
        wait,
        child ? 'history has another child there' : `history has a ${known.kind} there`,
      );
    }
    // A child that has ended is come by when its end is handed out.
    if (known.kind === 'wait' && known.outcome === null) replay.visit(wait);
    return;
  }
  await execution.during(() => replay.caughtUp(wait));
  const child = { childId: spec.jobId, task: task.name, inputHash: spec.inputHash };
  for (;;) {
    const continues = await continuationFor(execution, { ...wait, ...child });
    const outbox = [childStart({ ...spec, continues }, read.text, engine.now())];
    const alone = inherited !== null;
    const answer = await execution.ask({ type: 'start-child', wait, child }, { alone, extras: { outbox } });
    if (answer !== 'moved' && !answer.ok)
      throw rejectionError(answer, `start child '${task.name}' in job ${job.spec.jobId}`);
    if (answer !== 'moved') return;
    // Somebody has requeued the old child since it was looked for, and a server has looked again.
    await execution.pauseUntil(engine.now() + STILL_RUNS_POLL_MS, wait.step);
  }
}

/** The job that a child goes on with, in a job that goes on with another itself. */
async function continuationFor(
  execution: Execution,
  asked: StepRef & { readonly task: string; readonly inputHash: string },
): Promise<ContinuedRef | null> {
  const { attempt, engine, inherited, replay } = execution;
  if (inherited === null) return null;
  for (;;) {
    if (attempt.isOver) return never();
    const found = await readChild(execution, () => childContinuation(engine, inherited, asked));
    if (found === 'differs') return replay.leave(asked, 'the job before has another child there');
    if (found !== 'running') return found;
    await execution.pauseUntil(engine.now() + STILL_RUNS_POLL_MS, asked.step);
  }
}

/** Long enough to be waited for without a lease: the old child may need the very slot. */
const STILL_RUNS_POLL_MS = 5_000;

async function readChild<T>(execution: Execution, read: () => Promise<T>): Promise<T> {
  try {
    return await execution.read(read);
  } catch (error) {
    if (error instanceof PawlError && error.code === 'CONTINUED_JOB_GONE') return execution.giveUp(error);
    throw error;
  }
}
