import { readLog } from '../../engine/read-log.js';
import type { Fault } from '../fault.js';
import { Missed } from '../trial.js';
import { sightings } from '../witness.js';

/** A step hangs until it is told to stop, and an effect happens and is not heard of any more. */
export const stepTimeout: Fault = {
  id: 'F4',
  variants: 1,
  async strike(trial) {
    await trial.work();
    const job = await trial.late();
    await trial.finish();
    const seen = new Set(sightings(job.witness).map(({ what }) => what));
    for (const told of ['fetch aborted', 'charge aborted']) {
      if (!seen.has(told)) throw new Missed(`a body was never told to stop: ${told} is missing`);
    }
    const events = (await readLog(trial.ground.store, job.handle.id)).flatMap((commit) => commit.events);
    if (events.some(({ type }) => type === 'attempt.interrupted'))
      throw new Missed('the worker lost its lease meanwhile, which stops bodies, too');
    const timeouts = events.filter(
      (event) => event.type === 'step.failed' || event.type === 'effect.unknown',
    );
    const codes = timeouts.map(({ failure }) => failure.code);
    const retried = events.filter(({ type }) => type === 'attempt.failed').length;
    return {
      how: 'a step and an effect ran past their 150 ms; both were told to stop',
      problems: [
        ...(codes.every((code) => code === 'STEP_TIMEOUT')
          ? []
          : ([['G1', `it failed with ${codes.join()}`]] as const)),
        ...(retried === 1 ? [] : ([['G1', `the step cost ${retried} retries, not 1`]] as const)),
      ],
    };
  },
};
