/** The members that have a value: an option that is not given is not the same as one that is undefined. */
export function defined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const kept: { [K in keyof T]?: Exclude<T[K], undefined> } = {};
  for (const name of Object.keys(values) as (keyof T)[]) {
    const value = values[name];
    if (value !== undefined) kept[name] = value as Exclude<T[keyof T], undefined>;
  }
  return kept;
}
