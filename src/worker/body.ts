import { PawlError } from '../errors.js';
import type { Attempt } from './attempt.js';
import type { BodyContext } from './body-context.js';
import type { Execution } from './execution.js';

/** What a body gets whose time is not its own. */
class Unbounded implements BodyContext {
  readonly #attempt: Attempt;

  constructor(attempt: Attempt) {
    this.#attempt = attempt;
  }

  get signal(): AbortSignal {
    return this.#attempt.signal;
  }
}

/** Runs a body within its time, if that is bounded. */
export function runBody<T>(
  execution: Pick<Execution, 'engine' | 'attempt'>,
  { what, timeoutMs }: { what: string; timeoutMs: number | null },
  body: (context: BodyContext) => T | Promise<T>,
): T | Promise<T> {
  if (timeoutMs === null) return body(new Unbounded(execution.attempt));
  return runBounded(execution, { what, timeoutMs }, body);
}

/** The body is told to stop; whether it does is its own affair. */
async function runBounded<T>(
  { engine, attempt }: Pick<Execution, 'engine' | 'attempt'>,
  { what, timeoutMs }: { what: string; timeoutMs: number },
  body: (context: BodyContext) => T | Promise<T>,
): Promise<T> {
  const own = new AbortController();
  const timeout = new PawlError('STEP_TIMEOUT', {
    detail: `${what} took longer than ${timeoutMs} ms`,
    details: { timeoutMs },
  });
  let cancel: () => void = () => undefined;
  const timedOut = new Promise<never>((_resolve, reject) => {
    cancel = engine.alarms.set(timeoutMs, () => {
      own.abort(timeout);
      reject(timeout);
    });
  });
  try {
    const context = {
      get signal() {
        return AbortSignal.any([attempt.signal, own.signal]);
      },
    };
    return await Promise.race([Promise.resolve(body(context)), timedOut]);
  } finally {
    cancel();
  }
}
