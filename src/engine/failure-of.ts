import { ERRORS, PawlError } from '../errors.js';
import type { ErrorClass, Failure } from '../kernel/index.js';

const MOST_MESSAGE = 4_000;
const CODE = /^[A-Za-z][A-Za-z0-9_.:-]{0,99}$/;

/** An error that no retry can mend: the job goes to the dead-letter queue at once. */
export class FatalError extends Error {
  override readonly name = 'FatalError';
}

/** An error of an effect that proves that nothing happened outside: the effect may run again. */
export class NoEffectError extends Error {
  override readonly name = 'NoEffectError';
}

/**
 * What user code threw, as plain data of limited size. A plain throw is retryable; an error may bring its own `code`,
 * and say `retryable: false`.
 */
export function failureOf(thrown: unknown): Failure {
  if (thrown instanceof FatalError || thrown instanceof NoEffectError) {
    const failure = failureOf(thrown.cause ?? new Error(thrown.message));
    return thrown instanceof FatalError ? { ...failure, retryable: false, class: 'permanent' } : failure;
  }
  if (thrown instanceof PawlError) {
    const { code, retryable } = thrown;
    return { code, message: messageOf(thrown), retryable, class: ERRORS[code].class };
  }
  const own = ownFields(thrown);
  const retryable = own.retryable ?? true;
  const fallback: ErrorClass = retryable ? 'transient' : 'permanent';
  return {
    code: own.code ?? 'TASK_EXECUTION_FAILED',
    message: messageOf(thrown),
    retryable,
    class: fallback,
  };
}

/** System errors carry a `code` too, such as ECONNRESET: as good a code as any. */
function ownFields(thrown: unknown): { code?: string; retryable?: boolean } {
  if (typeof thrown !== 'object' || thrown === null) return {};
  const { code, retryable } = thrown as { code?: unknown; retryable?: unknown };
  return {
    ...(typeof code === 'string' && CODE.test(code) ? { code } : {}),
    ...(typeof retryable === 'boolean' ? { retryable } : {}),
  };
}

function messageOf(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message || thrown.name : describe(thrown);
  return text.length > MOST_MESSAGE ? `${text.slice(0, MOST_MESSAGE)}…` : text;
}

function describe(thrown: unknown): string {
  try {
    return typeof thrown === 'string' ? thrown : (JSON.stringify(thrown) ?? String(thrown));
  } catch {
    return 'something that cannot be written down';
  }
}
