/** Jobs that every system is asked to run: one that does nothing, one of five steps, one of as many as its input says. */
export type Kind = 'noop' | 'five-steps' | 'steps';

/** Runs a named part of a handler durably: its result is recorded before the handler goes on. */
export type Step = (name: string, run: () => number) => Promise<number>;

/** What the handlers of all systems do. */
export interface Handlers {
  noop(input: string): void;
  fiveSteps(step: Step): Promise<void>;
  steps(input: string, step: Step): Promise<void>;
}

/** Whether much is to be done, or little at once. Systems that have settings for either choose. */
export type Aim = 'throughput' | 'latency';

/** A job system, as far as the workloads need it. Pawl is one, and each peer. */
export interface System {
  /** Returns when the job is as durable as the system makes it. */
  start(kind: Kind, input: string): Promise<unknown>;
  /** One call for all of them. Missing: the system has none. */
  startMany?(kind: Kind, inputs: readonly string[]): Promise<unknown>;
  work(kind: Kind): Promise<unknown>;
  /** Stops working, if more is to come. */
  stop?(): Promise<void>;
  /** How many jobs have not ended, as the store knows it. */
  left(): Promise<number>;
  close(): Promise<void>;
  /**
   * For a system whose jobs cannot wait for a worker that is not there yet: starts one that is due later. Its worker is there from the
   * beginning, and a backlog is what falls due at the same moment.
   */
  readonly startLater?: (kind: Kind, input: string, delayMs: number) => Promise<unknown>;
}

export type OpenSystem = (url: string, handlers: Handlers, aim: Aim) => Promise<System>;

/** Handlers that tell how often they ran, when, and how long their steps took. */
export class Recorder implements Handlers {
  ran = 0;
  readonly stepMs: number[] = [];
  readonly #hear: (input: string) => void;
  #goal = Number.POSITIVE_INFINITY;
  #reached: () => void = () => undefined;

  constructor(hear: (input: string) => void = () => undefined) {
    this.#hear = hear;
  }

  noop(input: string): void {
    this.#hear(input);
    this.#tell();
  }

  async fiveSteps(step: Step): Promise<void> {
    for (let n = 1; n <= 5; n++) await step(`step ${n}`, () => n);
    this.#tell();
  }

  async steps(input: string, step: Step): Promise<void> {
    const count = Number(input);
    for (let n = 1; n <= count; n++) {
      const from = performance.now();
      await step(`step ${n}`, () => n);
      this.stepMs.push(performance.now() - from);
    }
    this.#tell();
  }

  /** Ends when so many have run since the beginning. */
  until(count: number): Promise<void> {
    if (this.ran >= count) return Promise.resolve();
    return new Promise((resolve) => {
      this.#goal = count;
      this.#reached = resolve;
    });
  }

  #tell(): void {
    this.ran += 1;
    if (this.ran >= this.#goal) this.#reached();
  }
}
