// Everything outside its own files that the kernel may touch. It is compiled against this page instead of the
// standard library (see tsconfig.json here), so a clock, chance, a process or a module of Node does not compile.
// Add to it what is pure and total; nothing else.

interface Math {
  floor(value: number): number;
  imul(a: number, b: number): number;
  max(...values: number[]): number;
  min(...values: number[]): number;
}
declare const Math: Math;

interface JSON {
  parse(text: string): unknown;
  stringify(value: unknown): string;
}
declare const JSON: JSON;

interface NumberConstructor {
  (text: unknown): number;
  readonly MAX_SAFE_INTEGER: number;
  isSafeInteger(value: unknown): boolean;
}
declare const Number: NumberConstructor;

interface ObjectConstructor {
  readonly prototype: object;
  getPrototypeOf(value: object): object | null;
  hasOwn(record: object, field: string): boolean;
  keys(record: object): string[];
  entries<T>(record: { readonly [key: string]: T } | readonly T[]): [string, T][];
  entries(record: object): [string, unknown][];
  values<T>(record: { readonly [key: string]: T }): T[];
  values(record: object): unknown[];
  fromEntries<T>(entries: Iterable<readonly [string, T]>): { [key: string]: T };
}
declare const Object: ObjectConstructor;

interface Error {
  name: string;
  message: string;
}
interface ErrorConstructor {
  new (message?: string): Error;
}
declare const Error: ErrorConstructor;

interface String {
  readonly length: number;
  readonly [index: number]: string;
  charAt(index: number): string;
  charCodeAt(index: number): number;
  includes(part: string): boolean;
  indexOf(part: string, from?: number): number;
  lastIndexOf(part: string): number;
  slice(start: number, end?: number): string;
  split(separator: string): string[];
  startsWith(prefix: string): boolean;
}

interface RegExp {
  exec(text: string): readonly string[] | null;
  test(text: string): boolean;
}

interface ReadonlyArray<T> extends Iterable<T> {
  readonly length: number;
  readonly [index: number]: T;
  at(index: number): T | undefined;
  entries(): IterableIterator<[number, T]>;
  every(test: (value: T) => boolean): boolean;
  filter(test: (value: T) => boolean): T[];
  find(test: (value: T) => boolean): T | undefined;
  findIndex(test: (value: T) => boolean): number;
  flatMap<U>(map: (value: T) => readonly U[]): U[];
  includes(value: T): boolean;
  indexOf(value: T): number;
  join(separator: string): string;
  map<U>(map: (value: T) => U): U[];
  slice(start: number, end?: number): T[];
  toSorted(): T[];
}
interface Array<T> extends ReadonlyArray<T> {
  length: number;
  [index: number]: T;
  pop(): T | undefined;
  push(...values: T[]): number;
  shift(): T | undefined;
}
interface ArrayConstructor {
  isArray(value: unknown): value is unknown[];
}
declare const Array: ArrayConstructor;

interface Map<K, V> {
  readonly size: number;
  entries(): IterableIterator<[K, V]>;
  get(key: K): V | undefined;
  set(key: K, value: V): this;
}
interface MapConstructor {
  new <K, V>(entries?: Iterable<readonly [K, V]>): Map<K, V>;
}
declare const Map: MapConstructor;

interface Set<T> {
  add(value: T): this;
  delete(value: T): boolean;
  has(value: T): boolean;
  values(): IterableIterator<T>;
}
interface SetConstructor {
  new <T>(values?: Iterable<T>): Set<T>;
}
declare const Set: SetConstructor;

interface ProxyConstructor {
  new <T extends object>(target: T, handler: { get(target: T, field: string | symbol): unknown }): T;
}
declare const Proxy: ProxyConstructor;

interface SymbolConstructor {
  readonly iterator: unique symbol;
}
declare const Symbol: SymbolConstructor;
interface IteratorResult<T, TReturn = unknown> {
  readonly done?: boolean;
  readonly value: T;
}
interface Iterator<T, TReturn = unknown, TNext = unknown> {
  next(): IteratorResult<T, TReturn>;
}
interface Iterable<T, TReturn = unknown, TNext = unknown> {
  [Symbol.iterator](): Iterator<T, TReturn, TNext>;
}
interface IterableIterator<T, TReturn = unknown, TNext = unknown> extends Iterator<T, TReturn, TNext> {
  [Symbol.iterator](): IterableIterator<T, TReturn, TNext>;
}

// The language itself asks for these by name.
interface Boolean {}
interface CallableFunction extends Function {}
interface Function {}
interface IArguments {}
interface NewableFunction extends Function {}
interface Number {}
interface Object {}
interface Symbol {}
interface TemplateStringsArray extends ReadonlyArray<string> {}

type Exclude<T, U> = T extends U ? never : T;
type Extract<T, U> = T extends U ? T : never;
type Omit<T, K extends string | number | symbol> = { [P in keyof T as Exclude<P, K>]: T[P] };
type Partial<T> = { [K in keyof T]?: T[K] };
type Pick<T, K extends keyof T> = { [P in K]: T[P] };
type Readonly<T> = { readonly [K in keyof T]: T[K] };
type Record<K extends string | number | symbol, T> = { [P in K]: T };
