/** More than any line of evidence can be: a text is no longer than this. */
const MOST_BYTES = 512 * 1024 * 1024;
const NEWLINE = 10;

/** A file's lines as bytes, whatever pieces it comes in. `ended` is false for a last one that no line break ends. */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>,
): AsyncGenerator<{ readonly bytes: Buffer; readonly ended: boolean }> {
  let pieces: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    const bytes =
      typeof chunk === 'string'
        ? Buffer.from(chunk)
        : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let from = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, from)) {
      yield { bytes: Buffer.concat([...pieces, bytes.subarray(from, end)]), ended: true };
      pieces = [];
      length = 0;
      from = end + 1;
    }
    if (from === bytes.length) continue;
    pieces.push(bytes.subarray(from));
    length += bytes.length - from;
    if (length > MOST_BYTES) break;
  }
  if (length > 0) yield { bytes: Buffer.concat(pieces), ended: false };
}
