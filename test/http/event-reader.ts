import { advanceUntil } from '../../src/testkit/index.js';
import type { ApiRig, Call } from './api-rig.js';

export type StreamEvent = { readonly id: string | null; readonly event: string; readonly data: unknown };

/** What a client makes of the text of a stream: only what is complete, and the last id that it saw. */
export function parseStream(text: string): {
  readonly events: StreamEvent[];
  readonly lastId: string | null;
} {
  const events: StreamEvent[] = [];
  let lastId: string | null = null;
  for (const block of text.split('\n\n').slice(0, -1)) {
    const fields = new Map(
      block.split('\n').map((line) => {
        const at = line.indexOf(':');
        return [line.slice(0, at), line.slice(at + 1).trimStart()] as const;
      }),
    );
    lastId = fields.get('id') ?? lastId;
    const data = fields.get('data');
    if (data === undefined) continue;
    events.push({
      id: fields.get('id') ?? null,
      event: fields.get('event') ?? '',
      data: JSON.parse(data) as unknown,
    });
  }
  return { events, lastId };
}

/** Reads an event stream as it comes. */
export class EventReader {
  readonly response: Response;
  text = '';
  isOver = false;
  readonly #rig: ApiRig;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;

  private constructor(rig: ApiRig, response: Response) {
    this.#rig = rig;
    this.response = response;
    this.#reader = (response.body as ReadableStream<Uint8Array>).getReader();
  }

  static async open(rig: ApiRig, path: string, call: Call = {}): Promise<EventReader> {
    const reader = new EventReader(rig, await rig.fetch('GET', path, { key: 'viewer', ...call }));
    void reader.#read();
    return reader;
  }

  get events(): StreamEvent[] {
    return parseStream(this.text).events;
  }

  get lastId(): string {
    return parseStream(this.text).lastId ?? '';
  }

  /** Time moves on until there are as many events. */
  async until(count: number): Promise<StreamEvent[]> {
    await advanceUntil(this.#rig.app.clock, () => this.events.length >= count, { atMost: '10s' });
    return this.events;
  }

  async untilOver(): Promise<StreamEvent[]> {
    await advanceUntil(this.#rig.app.clock, () => this.isOver, { atMost: '60s' });
    return this.events;
  }

  /** Goes away. */
  async leave(): Promise<void> {
    await this.#reader.cancel();
    await this.#rig.app.idle();
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder();
    for (;;) {
      const { done, value } = await this.#reader.read();
      if (done) break;
      this.text += decoder.decode(value, { stream: true });
    }
    this.isOver = true;
  }
}
