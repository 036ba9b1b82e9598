import type { Duration } from '../engine/duration.js';
import type { BodyContext } from './body-context.js';
import type { CallOptions } from './call-step.js';
import type { EffectDefinition } from './effect-definition.js';
import type { Json } from './json.js';
import type { StepOptions } from './run-step.js';
import type { TaskDefinition } from './task-definition.js';

export type WaitOptions = {
  /** How long to wait at most. Without it the job waits until somebody answers. */
  readonly timeout?: Duration;
  /** What is waited for, for whoever looks at the job. */
  readonly reason?: string;
  readonly kind?: 'signal' | 'approval' | 'message';
};

/** What a task must be for `step.call`: its types travel with it. */
export type Callable<I, O> = {
  readonly definition: TaskDefinition;
  readonly '~types'?: { input: I; output: O };
};
/** What an effect must be for `step.effect`. */
export type Enterable<I, O> = {
  readonly definition: EffectDefinition;
  readonly '~types'?: { input: I; output: O };
};

/**
 * What a handler does durably. Every result is recorded, and handed out again when the handler is run anew after a
 * crash, a wait or a deploy. Steps may run in parallel.
 */
export interface Steps {
  /** Runs `body` until its result is recorded, then never again: at least once until then. */
  run<T>(
    name: string,
    body: (context: BodyContext) => T | Promise<T>,
    options?: StepOptions,
  ): Promise<Json<T>>;
  /** Enters an effect at most once, unless it was declared not to have happened. */
  effect<I, O>(name: string, effect: Enterable<I, O>, input: NoInfer<I>): Promise<Json<O>>;
  /**
   * Commits the application's own writes and the record of this step in one transaction: exactly once. `tx` is a `pg`
   * client on Postgres, and a `StatementList` on SQLite. The tables must be in Pawl's own database.
   */
  transaction<T, Tx = unknown>(
    name: string,
    body: (tx: Tx, context: BodyContext) => T | Promise<T>,
  ): Promise<Json<T>>;
  sleep(name: string, duration: Duration): Promise<void>;
  sleepUntil(name: string, at: Date | number): Promise<void>;
  /** Waits for a signal, which may have arrived before. `undefined` if the timeout passes first. */
  waitFor<T = unknown>(key: string, options?: WaitOptions & { timeout?: never }): Promise<T>;
  waitFor<T = unknown>(key: string, options: WaitOptions & { timeout: Duration }): Promise<T | undefined>;
  /** Runs another task as a child job, and waits for its result. A child that fails throws CHILD_FAILED. */
  call<I, O>(name: string, task: Callable<I, O>, input: NoInfer<I>, options?: CallOptions): Promise<Json<O>>;
  /** The time in milliseconds since the Unix epoch, the same in every replay. */
  now(): Promise<number>;
  /** A number from 0 up to 1, the same in every replay. */
  random(): Promise<number>;
  uuid(): Promise<string>;
  /** Where the last checkpoint stands; `initial` before the first. Comes before every other step. */
  resume<S>(initial: S): Json<S>;
  /** Lets later replays begin here, with `state`. Every step before it must have ended, one that lost a race too. */
  checkpoint(state: unknown): Promise<void>;
}
