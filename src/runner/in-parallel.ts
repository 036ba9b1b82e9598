/** Does something for each, at most so many at once, in this order. Answers in the same order. */
export async function inParallel<T, R>(
  all: readonly T[],
  most: number,
  work: (one: T) => Promise<R>,
): Promise<R[]> {
  const answers: R[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let n = next++; n < all.length; n = next++) answers[n] = await work(all[n] as T);
  };
  await Promise.all(Array.from({ length: Math.min(most, all.length) }, lane));
  return answers;
}
