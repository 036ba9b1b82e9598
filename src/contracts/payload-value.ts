import { ERASED_PREFIX, type JsonText } from '../kernel/index.js';

/** A payload as a value. One that was erased reads as null. */
export function payloadValue(text: JsonText | null): unknown {
  if (text === null || text.startsWith(ERASED_PREFIX)) return null;
  return JSON.parse(text);
}
