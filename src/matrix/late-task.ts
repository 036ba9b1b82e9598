import { effect, happened } from '../client/effect.js';
import { task, type Task } from '../client/task.js';
import type { Points } from './points.js';
import { MOST_RECOVERIES, type Witnessed } from './order-task.js';
import { bearWitness, sightings } from './witness.js';

export const LATE_RESULT = { fetched: 'fetched', paid: 'charged', signal: 'three' } as const;

const STEP_TIMEOUT_MS = 150;

/**
 * A step and an effect that take longer than they may. The step hangs until it is told to stop, and is quick in the
 * next attempt; the effect happens, and then nothing is heard of it for longer than anybody waits.
 */
export function lateTask(points: Points): Task<Witnessed, unknown> {
  return task<Witnessed>(
    {
      name: 'late',
      stepTimeout: STEP_TIMEOUT_MS,
      retry: { maxRetries: 3, baseMs: 20, jitterMs: 10 },
      maxRecoveries: MOST_RECOVERIES,
    },
    async ({ input: { witness }, step, job }) => {
      const attemptId = points.attemptOf(job.id);
      const charge = effect({
        name: 'shop.late-charge',
        settle: 0,
        async run(_input: Witnessed, { idempotencyKey, signal }) {
          bearWitness(witness, 'charge', { key: idempotencyKey, attemptId });
          await aborted(signal);
          bearWitness(witness, 'charge aborted', { key: idempotencyKey, attemptId });
          return LATE_RESULT.paid;
        },
        reconcile: (_input: Witnessed, { idempotencyKey }) => {
          bearWitness(witness, 'charge: happened', { key: idempotencyKey, attemptId });
          return happened(LATE_RESULT.paid);
        },
      });
      const fetched = await step.run('fetch', async ({ signal }) => {
        const isFirst = !sightings(witness).some(({ what }) => what === 'fetch');
        bearWitness(witness, 'fetch', { attemptId });
        if (isFirst) {
          await aborted(signal);
          bearWitness(witness, 'fetch aborted', { attemptId });
        }
        return LATE_RESULT.fetched;
      });
      const id = await step.uuid();
      bearWitness(witness, 'id', { key: id, attemptId });
      const paid = await step.effect('charge', charge, { witness });
      const signal = await step.waitFor<string>('late');
      return { fetched, paid, signal };
    },
  );
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
