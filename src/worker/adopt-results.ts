import type { PawlError } from '../errors.js';
import type { Engine } from '../engine/engine.js';
import type { Inherited, KeptResult } from '../engine/inherited.js';
import { pause } from '../engine/pause.js';
import { rejectionError } from '../engine/rejection-error.js';
import { STAND_IN } from '../engine/continuing.js';
import { untilAnswered } from '../engine/until-answered.js';
import type { EffectStep, Event, WaitStep } from '../kernel/index.js';
import type { Attempt } from './attempt.js';
import type { GiveOptions, HeldCommand } from './held-command.js';
import { NO_FACTS } from './effect-use.js';

/**
 * Records what the jobs before have results of as this job's own, before its handler runs: in the order of their record, so that what
 * raced there has the same winner here. Nothing is run and nothing entered. One that was broken off goes on where it was. Answers with what
 * was recorded; never, if the attempt is lost meanwhile.
 */
export async function adoptResults(
  engine: Engine,
  attempt: Attempt,
  inherited: Inherited,
): Promise<readonly Event[]> {
  const recorder = new Recorder(engine, attempt);
  for (const kept of inherited.kept()) await recorder.record(kept);
  return recorder.recorded();
}

class Recorder {
  readonly #engine: Engine;
  readonly #attempt: Attempt;
  readonly #events: Event[] = [];
  /** The latest that was asked for: they are answered in order. */
  #last: Promise<void> = Promise.resolve();
  #refused: PawlError | null = null;

  constructor(engine: Engine, attempt: Attempt) {
    this.#engine = engine;
    this.#attempt = attempt;
  }

  async recorded(): Promise<readonly Event[]> {
    await this.#last;
    if (this.#refused !== null) throw this.#refused;
    return this.#events;
  }

  async record({ step, occurrence, found }: KeptResult): Promise<void> {
    const ref = { step, occurrence };
    const own = this.#attempt.steps.get(ref);
    if (found.kind === 'run' && own === undefined && found.output !== null) {
      const startedAt = this.#engine.now();
      this.#give({ type: 'record-step', ...ref, startedAt, output: found.output });
    }
    if (found.kind === 'wait' && own === undefined) await this.#giveEnd(found);
    if (found.kind === 'effect' && (own === undefined || (own.kind === 'effect' && own.result === null)))
      await this.#adopt({ ...ref, effect: found, isIntended: own !== undefined });
  }

  async #giveEnd({ wait, outcome, payload }: WaitStep): Promise<void> {
    if (outcome !== 'received' && outcome !== 'elapsed') return;
    // By a clock that was set back it has yet to come.
    const leftMs = outcome === 'elapsed' ? (wait.expiresAt ?? 0) - this.#engine.now() : 0;
    if (leftMs > 0) await pause(this.#engine, leftMs);
    this.#give({ type: 'consume-wait', wait, outcome, payload });
  }

  /** Its intent first, then its result beside the log, then its record: as if it had been entered. */
  async #adopt({ step, occurrence, effect, isIntended }: Adopted): Promise<void> {
    const { tool, effectKey, input, result } = effect;
    if (result === null) return;
    const ref = { step, occurrence };
    if (!isIntended) {
      this.#give({ type: 'begin-effect', ...ref, tool, effectKey, input, ...NO_FACTS }, TAKES_OVER);
      await this.#last;
    }
    if (this.#refused !== null) return;
    const kept = { jobId: this.#attempt.job.spec.jobId, ...ref, entry: STAND_IN, result };
    const { attemptId } = this.#attempt;
    await untilAnswered(this.#engine, () => this.#engine.store.putEffect(kept, attemptId));
    this.#give({ type: 'record-effect', ...ref, entry: STAND_IN, result }, TAKES_OVER);
  }

  #give(command: HeldCommand, options?: GiveOptions): void {
    if (this.#refused !== null) return;
    this.#last = new Promise((resolve) => {
      this.#attempt.give(command, options, (answer) => {
        if (answer.ok) this.#events.push(...answer.events);
        else if (answer.code !== 'MOVED')
          this.#refused ??= rejectionError(answer, 'go on with what another job has recorded');
        resolve();
      });
    });
  }
}

/** The handler does not run yet: whatever goes with it is taken over as well. */
const TAKES_OVER: GiveOptions = { extras: { takesOver: true } };

type Adopted = {
  readonly step: string;
  readonly occurrence: number;
  readonly effect: EffectStep;
  readonly isIntended: boolean;
};
