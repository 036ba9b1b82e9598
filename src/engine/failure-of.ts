import { ERRORS, PawlError, type ErrorCode } from '../errors.js';
import type { Failure } from '../kernel/index.js';

const MOST_MESSAGE = 4_000;
/** An error may be wrapped more than once; one that is its own cause must not be unwrapped for ever. */
const MOST_WRAPPERS = 10;
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
 * and say `retryable: false`. Whatever was thrown, what comes of it is a failure that can be recorded: one that could not
 * would leave its job running.
 */
export function failureOf(thrown: unknown): Failure {
  const { error, isFatal } = unwrap(thrown);
  const failure = plain(error);
  return isFatal ? { ...failure, retryable: false, class: 'permanent' } : failure;
}

function unwrap(thrown: unknown): { error: unknown; isFatal: boolean } {
  let error = thrown;
  let isFatal = false;
  for (let wrappers = 0; wrappers < MOST_WRAPPERS; wrappers++) {
    const isWrapper = isA(error, FatalError) || isA(error, NoEffectError);
    if (!isWrapper) break;
    isFatal ||= isA(error, FatalError);
    error = read(error, 'cause') ?? new Error(messageOf(error));
  }
  return { error, isFatal };
}

/** System errors carry a `code` too, such as ECONNRESET: as good a code as any. */
function plain(thrown: unknown): Failure {
  const own = read(thrown, 'code');
  const code = typeof own === 'string' && CODE.test(own) ? own : 'TASK_EXECUTION_FAILED';
  const entry = isA(thrown, PawlError) && Object.hasOwn(ERRORS, code) ? ERRORS[code as ErrorCode] : null;
  const said = read(thrown, 'retryable');
  const retryable = typeof said === 'boolean' ? said : (entry?.retryable ?? true);
  return {
    code,
    message: messageOf(thrown),
    retryable,
    class: entry?.class ?? (retryable ? 'transient' : 'permanent'),
  };
}

/** Half a pair of surrogates, of the error's own or left by cutting, is no text that others could read. */
function messageOf(thrown: unknown): string {
  const text = isA(thrown, Error) ? wordsOf(thrown) : describe(thrown);
  return text.length > MOST_MESSAGE ? `${text.slice(0, MOST_MESSAGE).toWellFormed()}…` : text.toWellFormed();
}

/** Nothing keeps an error's message from being something else than text. */
function wordsOf(error: Error): string {
  const message = read(error, 'message') ?? '';
  if (message !== '') return describe(message);
  const name = read(error, 'name');
  return typeof name === 'string' ? name : 'Error';
}

function describe(thrown: unknown): string {
  try {
    return typeof thrown === 'string' ? thrown : (JSON.stringify(thrown) ?? String(thrown));
  } catch {
    return 'something that cannot be written down';
  }
}

/** A property of whatever it is. Reading one may run code of its own, which may throw. */
function read(from: unknown, name: string): unknown {
  try {
    return (from as Readonly<Record<string, unknown>>)[name];
  } catch {
    return undefined;
  }
}

/** `instanceof`, of whatever it is: a proxy may throw at that, too. */
function isA<T>(thrown: unknown, type: new (...given: never[]) => T): thrown is T {
  try {
    return thrown instanceof type;
  } catch {
    return false;
  }
}
