import { PawlError } from '../errors.js';
import type { JsonText } from '../kernel/index.js';
import { notFinite } from './not-finite.js';

/** A payload of this size is stored; beyond it the log becomes a place for files, and every read pays for it. */
export const MOST_PAYLOAD_BYTES = 1_048_576;
export const MOST_PAYLOAD_DEPTH = 64;

/** A value as the engine keeps it. `what` names it in the error: an input, the result of a step. */
export function toJsonText(value: unknown, what: string): JsonText {
  // The commonest result of all.
  if (value === undefined || value === null) return 'null';
  const text = stringify(value, what);
  // A character takes three bytes at most, so that short texts need no counting.
  if (text.length * 3 > MOST_PAYLOAD_BYTES) {
    const bytes = Buffer.byteLength(text);
    if (bytes > MOST_PAYLOAD_BYTES) {
      throw new PawlError('PAYLOAD_TOO_LARGE', {
        detail: `${what} takes ${bytes} bytes as JSON; ${MOST_PAYLOAD_BYTES} are kept`,
        details: { bytes, most: MOST_PAYLOAD_BYTES },
      });
    }
  }
  if (isDeeperThan(text, MOST_PAYLOAD_DEPTH)) {
    throw new PawlError('PAYLOAD_TOO_LARGE', {
      detail: `${what} is nested more than ${MOST_PAYLOAD_DEPTH} levels deep`,
      details: { mostDepth: MOST_PAYLOAD_DEPTH },
    });
  }
  if (text.includes('null')) expectFinite(value, what);
  return text;
}

/** Asked for texts with a null in them alone, which is how such a number or date would be written: most have none, and pay nothing. */
function expectFinite(value: unknown, what: string): void {
  const found = notFinite(value);
  if (found === null) return;
  const path = found.path === '' ? 'the value' : found.path;
  throw new PawlError('INVALID_INPUT', {
    detail: `${what} cannot be kept: ${path} is ${found.value}, which JSON cannot hold`,
    details: { issues: [{ path: found.path, message: `is ${found.value}` }] },
  });
}

function stringify(value: unknown, what: string): JsonText {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw new PawlError('NOT_SERIALISABLE', {
      detail: `${what} cannot be written as JSON (${cause instanceof Error ? firstLine(cause.message) : 'it threw'})`,
      cause,
    });
  }
  if (text !== undefined) return text;
  throw new PawlError('NOT_SERIALISABLE', { detail: `${what} is a ${typeof value}` });
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}

/** Texts that are too short to be that deep are not looked at. */
function isDeeperThan(text: JsonText, most: number): boolean {
  if (text.length <= most * 2) return false;
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === BACKSLASH) at += 1;
      else if (code === QUOTE) inString = false;
    } else if (code === QUOTE) {
      inString = true;
    } else if (code === OPEN_LIST || code === OPEN_RECORD) {
      depth += 1;
      if (depth > most) return true;
    } else if (code === CLOSE_LIST || code === CLOSE_RECORD) {
      depth -= 1;
    }
  }
  return false;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_RECORD = 0x7b;
const CLOSE_RECORD = 0x7d;
