const [BIND, EXECUTE, SYNC] = [0x42, 0x45, 0x53] as const;
const [AS_TEXT, AS_BYTES] = [0, 1] as const;
const NULL_LENGTH = -1;
/** The whole answer at once. */
const ALL_ROWS = 0;

/** Bind: its kind and length, an end for each of two names, how many formats and values there are, and that rows come as text. */
const BIND_BYTES = 5 + 2 + 2 + 2 + 2;
const FOR_EACH_VALUE = 2 + 4;
/** Execute, the same with one name and a count; and Sync, which is a kind and a length. */
const REST_BYTES = 10 + 5;

/**
 * All that asks for the rows of a prepared statement, as one message: bind these values to it, execute it, answer. Null if one of
 * the values is of a kind that is left to the driver, such as a date.
 */
export function questionOf(statement: string, values: readonly unknown[]): Buffer | null {
  const parts: (string | Buffer | null)[] = [];
  let bytes = BIND_BYTES + statement.length + values.length * FOR_EACH_VALUE;
  for (const value of values) {
    const part = partOf(value);
    if (part === undefined) return null;
    if (part !== null) bytes += typeof part === 'string' ? Buffer.byteLength(part) : part.length;
    parts.push(part);
  }
  const message = Buffer.allocUnsafe(bytes + REST_BYTES);
  writeRest(message, writeBind(message, statement, parts));
  return message;
}

function partOf(value: unknown): string | Buffer | null | undefined {
  if (typeof value === 'string' || value === null || Buffer.isBuffer(value)) return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return isList(value) ? `{${value.map(elementOf).join()}}` : undefined;
}

type Element = string | number | null;

function isList(value: unknown): value is readonly Element[] {
  const isElement = (one: unknown) => typeof one === 'string' || typeof one === 'number' || one === null;
  return Array.isArray(value) && value.every(isElement);
}

function elementOf(value: Element): string {
  return value === null ? 'NULL' : `"${String(value).replaceAll(/["\\]/g, '\\$&')}"`;
}

function writeBind(message: Buffer, statement: string, parts: readonly (string | Buffer | null)[]): number {
  message[0] = BIND;
  message.writeInt32BE(message.length - REST_BYTES - 1, 1);
  // The portal has no name.
  message[5] = 0;
  let at = 6 + message.write(statement, 6, 'latin1');
  message[at++] = 0;
  at = message.writeInt16BE(parts.length, at);
  for (const part of parts) {
    at = message.writeInt16BE(part === null || typeof part === 'string' ? AS_TEXT : AS_BYTES, at);
  }
  at = message.writeInt16BE(parts.length, at);
  for (const part of parts) at = writePart(message, at, part);
  return message.writeInt16BE(AS_TEXT, at);
}

function writePart(message: Buffer, at: number, part: string | Buffer | null): number {
  if (part === null) return message.writeInt32BE(NULL_LENGTH, at);
  const bytes = typeof part === 'string' ? message.write(part, at + 4) : part.copy(message, at + 4);
  message.writeInt32BE(bytes, at);
  return at + 4 + bytes;
}

function writeRest(message: Buffer, from: number): void {
  message[from] = EXECUTE;
  message.writeInt32BE(9, from + 1);
  message[from + 5] = 0;
  message.writeInt32BE(ALL_ROWS, from + 6);
  message[from + 10] = SYNC;
  message.writeInt32BE(4, from + 11);
}
