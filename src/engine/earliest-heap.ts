type Placed = { readonly at: number };

/** Puts something into a binary heap, whose first item is the earliest. */
export function pushTo<T extends Placed>(heap: T[], item: T): void {
  let index = heap.length;
  heap.push(item);
  while (index > 0) {
    const parent = (index - 1) >> 1;
    const above = heap[parent] as T;
    if (above.at <= item.at) break;
    heap[index] = above;
    index = parent;
  }
  heap[index] = item;
}

/** Takes the earliest out of such a heap. */
export function popFrom<T extends Placed>(heap: T[]): T | undefined {
  const [first] = heap;
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return first;
  let index = 0;
  for (let child = 1; child < heap.length; child = 2 * index + 1) {
    if (child + 1 < heap.length && (heap[child + 1] as T).at < (heap[child] as T).at) child += 1;
    const below = heap[child] as T;
    if (below.at >= last.at) break;
    heap[index] = below;
    index = child;
  }
  heap[index] = last;
  return first;
}
