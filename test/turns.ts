/** Lets the event loop turn for a while, as code of a handler's own does that waits for something outside of any step. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => void setImmediate(resolve));
}
