/** A type as it comes back from JSON: dates as text, methods gone, `undefined` dropped. */
export type Json<T> = unknown extends T
  ? T
  : T extends { toJSON(): infer J }
    ? Json<J>
    : T extends string | number | boolean | null
      ? T
      : T extends undefined | void
        ? null
        : T extends bigint | symbol | ((...args: never[]) => unknown)
          ? never
          : T extends readonly unknown[]
            ? { -readonly [K in keyof T]: Json<T[K]> }
            : T extends Map<unknown, unknown> | Set<unknown>
              ? Record<string, never>
              : T extends object
                ? JsonRecord<T>
                : never;

/** Members that JSON leaves out are left out; those that it may leave out become optional. */
type JsonRecord<T extends object> = Simplify<
  { -readonly [K in Kept<T>]: Json<T[K]> } & { -readonly [K in Optional<T>]?: Json<Exclude<T[K], undefined>> }
>;

type Unwritten = undefined | symbol | ((...args: never[]) => unknown);
type Kept<T> = {
  [K in keyof T & (string | number)]: undefined extends T[K] ? never : T[K] extends Unwritten ? never : K;
}[keyof T & (string | number)];
type Optional<T> = {
  [K in keyof T & (string | number)]-?: undefined extends T[K] ? (T[K] extends Unwritten ? never : K) : never;
}[keyof T & (string | number)];
type Simplify<T> = { [K in keyof T]: T[K] };
