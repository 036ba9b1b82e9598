import { PawlError } from '../errors.js';
import type { JsonText, StepRef } from '../kernel/index.js';
import { toJsonText } from '../engine/json-text.js';
import { rejectionError } from '../engine/rejection-error.js';
import type { CommitItem, CommitReply } from '../ports/store.js';
import type { BodyContext } from './body-context.js';
import { runBody } from './body.js';
import type { Execution } from './execution.js';
import { never } from './never.js';
import { failTry, NO_RETRY, recordOf } from './run-step.js';

/**
 * The application's own writes, and the record of this step, in one transaction: exactly once. The record is its last
 * statement, so that a worker that lost its lease meanwhile cannot commit.
 */
export async function transactionStep(
  execution: Execution,
  name: string,
  body: (tx: unknown, context: BodyContext) => unknown,
): Promise<unknown> {
  if (execution.attempt.isOver) return never();
  const ref = execution.begin(name, 'transaction');
  try {
    const recorded = await recordOf(execution, ref);
    const output = recorded === null ? await transact(execution, ref, body) : recorded.output;
    return JSON.parse(output) as unknown;
  } finally {
    execution.end(ref);
  }
}

async function transact(
  execution: Execution,
  ref: StepRef,
  body: (tx: unknown, context: BodyContext) => unknown,
): Promise<JsonText> {
  const { engine, attempt } = execution;
  const { step: name } = ref;
  const startedAt = engine.now();
  const transaction = await execution.read(() => engine.store.begin());
  if (attempt.isOver) {
    await transaction.rollback();
    return never();
  }
  // An attempt that is over answers nothing any more: the connection must not wait for it.
  const settled = execution.undoAtEnd(() => transaction.rollback());
  const { stepTimeoutMs: timeoutMs } = attempt.job.spec;
  try {
    const output = await execution.during(async () => {
      const within = (context: BodyContext) => body(transaction.tx, context);
      const value = await runBody(execution, { what: `step '${name}'`, timeoutMs }, within);
      return toJsonText(value, `the result of step '${name}'`);
    });
    const undone: { error?: unknown } = {};
    const save = async (item: CommitItem): Promise<CommitReply | null> => {
      if (attempt.isOver) return null;
      try {
        return (await transaction.commit(item)).reply;
      } catch (error) {
        // An outage is the store's, and ends the attempt. Anything else comes of what the body wrote.
        if (error instanceof PawlError) throw error;
        undone.error = error;
        return null;
      }
    };
    const answer = await execution.ask(
      { type: 'record-step', ...ref, startedAt, output },
      { alone: true, save },
    );
    if (answer === 'moved') throw undone.error;
    if (!answer.ok) throw rejectionError(answer, `record step '${name}' of job ${attempt.job.spec.jobId}`);
    return output;
  } catch (error) {
    await transaction.rollback();
    await failTry(execution, ref, { startedAt, error, retry: NO_RETRY });
    throw error;
  } finally {
    settled();
  }
}
