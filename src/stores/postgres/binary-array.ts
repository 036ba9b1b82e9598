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
  for (const field of [dimensions, 1, OIDS[type], values.length, 1]) at = buffer.writeInt32BE(field, at);
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
  if (value === null) return buffer.writeInt32BE(NULL_LENGTH, at);
  if (type === 'text') {
    const bytes = buffer.write(value as string, at + LENGTH_BYTES);
    buffer.writeInt32BE(bytes, at);
    return at + LENGTH_BYTES + bytes;
  }
  if (type === 'int') return buffer.writeInt32BE(value as number, buffer.writeInt32BE(4, at));
  // By halves: a BigInt for each would take three times as long.
  const high = buffer.writeInt32BE(Math.floor((value as number) / 2 ** 32), buffer.writeInt32BE(8, at));
  return buffer.writeUInt32BE((value as number) >>> 0, high);
}
