/** An answer that settles the matter, whatever it is. */
export type Answer = {
  readonly status: number;
  readonly data: Readonly<Record<string, unknown>>;
  readonly code: string;
};

const REQUEST_MS = 5_000;
const AGAIN_MS = 150;

/** A client as careful ones are: it sends the same request again until there is an answer to it. */
export class HttpClient {
  readonly #url: string;
  /** Requests that had to be sent again: their server was gone, slow, or without its store. */
  retries = 0;
  #isOver = false;

  constructor(url: string) {
    this.#url = url;
  }

  /** Nobody waits for answers any more. */
  giveUp(): void {
    this.#isOver = true;
  }

  /** Null if it was given up before there was an answer. */
  async ask(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<Answer | null> {
    for (;;) {
      const answer = await this.#once(method, path, body);
      if (answer !== null) return answer;
      if (this.#isOver) return null;
      this.retries += 1;
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }

  async #once(method: string, path: string, body: unknown): Promise<Answer | null> {
    try {
      const response = await fetch(`${this.#url}${path}`, {
        method,
        signal: AbortSignal.timeout(REQUEST_MS),
        ...(body !== undefined && {
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
      });
      const answer = (await response.json()) as {
        data?: Readonly<Record<string, unknown>>;
        error?: { code: string; retryable: boolean };
      };
      const { data = {}, error } = answer;
      if (response.status >= 500 || error?.retryable === true) return null;
      return { status: response.status, data, code: error?.code ?? '' };
    } catch {
      // It is down, was killed in the middle of its answer, or took too long: what it did is unknown.
      return null;
    }
  }
}
