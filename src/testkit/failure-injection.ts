import { PawlError } from '../errors.js';
import type { FailureCode } from '../kernel/index.js';

/**
 * `timeout`: it takes too long; at a store, it is done, and the reply is lost. `transient_error`: it fails, and may work
 * the next time. `process_restart_interrupt`: the process dies there.
 */
export const INJECTION_MODES = ['timeout', 'transient_error', 'process_restart_interrupt'] as const;
export type InjectionMode = (typeof INJECTION_MODES)[number];

export type InjectionRule = {
  readonly mode: InjectionMode;
  /** Any name. Those of the engine's own points are in `ENGINE_POINTS`. */
  readonly point: string;
  /** Which call of the point fails, from 1. */
  readonly atInvocation?: number;
  /** How many calls fail from there on. */
  readonly repeat?: number;
};

const CODES: Readonly<Record<InjectionMode, FailureCode>> = {
  timeout: 'TASK_TIMEOUT',
  transient_error: 'TASK_EXECUTION_FAILED',
  process_restart_interrupt: 'PROCESS_RESTARTED',
};

/** What `inject` throws. A handler that lets it through fails with its code, and is retried. */
export class InjectedFailure extends Error {
  override readonly name = 'InjectedFailure';
  readonly code: FailureCode;
  readonly retryable = true;
  readonly mode: InjectionMode;
  readonly point: string;
  readonly invocation: number;

  constructor({ mode, point, invocation }: { mode: InjectionMode; point: string; invocation: number }) {
    super(`injected ${mode} at '${point}', call ${invocation}`);
    this.code = CODES[mode];
    this.mode = mode;
    this.point = point;
    this.invocation = invocation;
  }
}

/** Fails calls of named points, as its rules say, and counts them all. */
export class FailureInjection {
  readonly #rules: readonly Required<InjectionRule>[];
  readonly #counts = new Map<string, number>();

  constructor(rules: readonly InjectionRule[]) {
    this.#rules = rules.map(({ atInvocation = 1, repeat = 1, ...rule }) => ({
      ...rule,
      atInvocation,
      repeat,
    }));
    for (const { mode, point, atInvocation, repeat } of this.#rules) {
      if (!INJECTION_MODES.includes(mode)) throw wrong('mode', `is none of ${INJECTION_MODES.join(', ')}`);
      if (typeof point !== 'string' || point === '') throw wrong('point', 'must be a name');
      if (!isCount(atInvocation)) throw wrong('atInvocation', 'must be a whole number from 1');
      if (!isCount(repeat)) throw wrong('repeat', 'must be a whole number from 1');
    }
  }

  /** Counts a call of the point, and throws an `InjectedFailure` if a rule is for this one. */
  inject(point: string): void {
    const invocation = this.invocationCount(point) + 1;
    this.#counts.set(point, invocation);
    const rule = this.#rules.find(
      ({ atInvocation, repeat, ...one }) =>
        one.point === point && invocation >= atInvocation && invocation < atInvocation + repeat,
    );
    if (rule) throw new InjectedFailure({ mode: rule.mode, point, invocation });
  }

  invocationCount(point: string): number {
    return this.#counts.get(point) ?? 0;
  }
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1;
}

function wrong(option: string, problem: string): PawlError {
  return new PawlError('INVALID_OPTION', {
    detail: `${option} of a rule of failure injection ${problem}`,
    details: { option },
  });
}
