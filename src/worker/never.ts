/** What a call returns whose attempt is over, or about to be: the handler stops there, and is forgotten. */
export function never<T>(): Promise<T> {
  return new Promise<T>(() => undefined);
}
