import { useEffect, useState } from 'preact/hooks';

/** A value that several parts of the page look at. */
export class Observable<T> {
  #value: T;
  readonly #observers = new Set<(value: T) => void>();

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  set(value: T): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const observer of this.#observers) observer(value);
  }

  /** The answer ends it. */
  observe(observer: (value: T) => void): () => void {
    this.#observers.add(observer);
    return () => void this.#observers.delete(observer);
  }
}

export function useObserved<T>(observable: Observable<T>): T {
  const [value, setValue] = useState(observable.value);
  useEffect(() => {
    setValue(() => observable.value);
    return observable.observe((next) => setValue(() => next));
  }, [observable]);
  return value;
}
