/** The types of lists that statements take, with the number by which the server knows each. */
const OIDS = { text: 25, int: 23, bigint: 20 } as const;
export type ElementType = keyof typeof OIDS;

const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;
const NULL_LENGTH = -1;

/**
 * A list as the server keeps it. As text, every element would be quoted here and taken apart there, which costs about as
 * much as the statement itself does for a thousand rows (bench/store/postgres.ts). The driver sends a buffer as it is.
 */
export function binaryArray(type: ElementType, values: readonly (string | number | null)[]): Buffer {
  const buffer = Buffer.allocUnsafe(HEADER_BYTES + bytesOf(type, values));
  const dimensions = values.length === 0 ? 0 : 1;
  let at = 0;
  // The flag says that there may be nulls.
  for (const field of [dimensions, 1, OIDS[type], values.length, 1]) at = writeInt(buffer, at, field);
  for (const value of values) at = writeElement(buffer, at, type, value);
  return dimensions === 0 ? buffer.subarray(0, 12) : buffer;
}

function bytesOf(type: ElementType, values: readonly (string | number | null)[]): number {
  let bytes = values.length * LENGTH_BYTES;
  for (const value of values) {
    if (value === null) continue;
    bytes += type === 'text' ? Buffer.byteLength(value as string) : type === 'int' ? 4 : 8;
  }
  return bytes;
}

function writeElement(buffer: Buffer, at: number, type: ElementType, value: string | number | null): number {
  if (value === null) return writeInt(buffer, at, NULL_LENGTH);
  if (type === 'text') {
    const bytes = buffer.write(value as string, at + LENGTH_BYTES);
    return writeInt(buffer, at, bytes) + bytes;
  }
  if (type === 'int') return writeInt(buffer, writeInt(buffer, at, 4), value as number);
  // By halves: a BigInt for each would take three times as long.
  const high = writeInt(buffer, writeInt(buffer, at, 8), Math.floor((value as number) / 2 ** 32));
  return writeInt(buffer, high, value as number);
}

/** The lowest four bytes of a number, by hand: a list of times takes a fifth of what `writeInt32BE` does. */
function writeInt(buffer: Buffer, at: number, value: number): number {
  buffer[at] = value >> 24;
  buffer[at + 1] = value >> 16;
  buffer[at + 2] = value >> 8;
  buffer[at + 3] = value;
  return at + 4;
}
