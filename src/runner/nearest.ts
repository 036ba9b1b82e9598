/** More letters than this apart, and it was hardly a slip. */
const MOST_APART = 2;

/** The known name that was probably meant, for the end of a sentence; nothing if none is near. */
export function nearest(name: string, known: readonly string[]): string {
  const found = known
    .map((one) => ({ one, apart: distance(one, name) }))
    .filter(({ apart, one }) => apart <= MOST_APART && apart < one.length)
    .toSorted((a, b) => a.apart - b.apart)[0];
  return found === undefined ? '' : `; did you mean '${found.one}'?`;
}

/** How many letters have to be put in, taken out or changed. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, n) => n);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
