/** Brings a callback to its receiver. What it throws means: not delivered, try again later. */
export interface Courier {
  /** Throws CALLBACK_URL_INVALID, with what is wrong, for an address that it would never go to. */
  check(url: string): Promise<void>;
  deliver(letter: Letter): Promise<{ readonly status: number }>;
}

export type Letter = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};
