import { PawlError } from '../errors.js';
import type { JsonText } from '../kernel/index.js';
import { failureOf } from '../engine/failure-of.js';
import { toJsonText } from '../engine/json-text.js';
import { StepError } from './run-step.js';

/** How the text of a result begins that tells why there is none. It is JSON like any other to everybody else. */
const UNKEPT = '{"$pawl:unkept":';

/**
 * The result of an effect's body, to be kept. The effect happened, even if its result cannot be written down: then why not is
 * kept in its place, so that the step fails with it now and in every replay. No other result is written like that.
 */
export function effectResultText(value: unknown, effect: string): JsonText {
  const what = `the result of effect '${effect}'`;
  try {
    const text = toJsonText(value, what);
    if (!text.startsWith(UNKEPT)) return text;
    throw new PawlError('NOT_SERIALISABLE', { detail: `${what} has a member that Pawl keeps for itself` });
  } catch (error) {
    if (!(error instanceof PawlError)) throw error;
    const { code, message } = failureOf(error);
    return `${UNKEPT}${JSON.stringify({ code, message })}}`;
  }
}

/** What the handler gets of it. */
export function readEffectResult(text: JsonText): unknown {
  const value = JSON.parse(text) as unknown;
  if (!text.startsWith(UNKEPT)) return value;
  const [{ code, message }] = Object.values(value as object) as [{ code: string; message: string }];
  throw new StepError({ code, message, retryable: false, class: 'validation' });
}
