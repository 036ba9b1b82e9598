/** What one request holds: the server reads four megabytes. */
const MOST_BYTES = 3 * 1_048_576;

/** Puts encoded parts together, in their order, so that each group fits into one request. */
export function fitRequests(parts: readonly string[]): string[][] {
  const groups: string[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const part of parts) {
    const bytes = Buffer.byteLength(part) + 1;
    if (size + bytes > MOST_BYTES) {
      groups.push([]);
      size = 0;
    }
    groups.at(-1)?.push(part);
    size += bytes;
  }
  return groups;
}
