import type { BodyContext } from './body-context.js';
import { runBody } from './body.js';
import { toJsonText } from '../engine/json-text.js';
import { never, type Execution } from './execution.js';
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
  const { engine, attempt } = execution;
  if (attempt.isOver) return never();
  const ref = execution.next(name, 'transaction');
  const recorded = await recordOf(execution, ref);
  if (recorded !== null) return JSON.parse(recorded.output) as unknown;

  const startedAt = engine.now();
  const transaction = await execution.read(() => engine.store.begin());
  // An attempt that is over answers nothing any more: the connection must not wait for it.
  void attempt.ended.then(() => transaction.rollback());
  const { stepTimeoutMs: timeoutMs } = attempt.job.spec;
  let output: string;
  try {
    output = await execution.during(async () => {
      const within = (context: BodyContext) => body(transaction.tx, context);
      const value = await runBody(execution, { what: `step '${name}'`, timeoutMs }, within);
      return toJsonText(value, `the result of step '${name}'`);
    });
  } catch (error) {
    await transaction.rollback();
    await failTry(execution, ref, { startedAt, error, retry: NO_RETRY });
    throw error;
  }
  await execution.give(
    { type: 'record-step', ...ref, startedAt, output },
    { alone: true, save: async (item) => (await transaction.commit(item)).reply },
  );
  return JSON.parse(output) as unknown;
}
