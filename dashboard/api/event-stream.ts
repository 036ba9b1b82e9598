import { heardFrom, notHeard } from '../live/connection.js';
import { refusalOf, Refusal } from './call.js';
import { WrongShape } from './shape.js';

export type Message = { readonly id: string; readonly event: string; readonly data: string };

export type StreamState = 'connecting' | 'live' | 'lost' | 'ended';

type Following = {
  /** Several at a time where they came together, so that a long past is shown at once. */
  readonly onMessages: (messages: readonly Message[]) => void;
  readonly onState: (state: StreamState) => void;
  readonly signal: AbortSignal;
  /** The message that ends the stream for good. */
  readonly endsWith: string;
  /** Stands in for the network and for time in tests. */
  readonly fetch?: typeof fetch;
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
};

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 10_000;

/**
 * Reads server-sent events, and after every cut goes on behind the last id. EventSource would do that too, but it tells
 * neither why it was refused nor lets a page go on from where another connection was.
 * Throws Refusal if the server does not want to be read, and whatever is wrong with a message.
 */
export async function followStream(url: string, following: Following, from = ''): Promise<void> {
  const { onMessages, onState, signal, endsWith, fetch: ask = fetch, pause = pausing } = following;
  let lastId = from;
  let pauseMs = FIRST_PAUSE_MS;
  onState('connecting');
  while (!signal.aborted) {
    try {
      const response = await ask(url, {
        credentials: 'same-origin',
        headers: { accept: 'text/event-stream', ...(lastId === '' ? {} : { 'last-event-id': lastId }) },
        signal,
      });
      heardFrom(response.headers);
      // Whatever the server itself cannot help is tried again.
      if (!response.ok && response.status < 500) throw refusalOf(response.status, await envelopeOf(response));
      if (response.ok && response.body !== null) {
        onState('live');
        for await (const messages of messagesOf(response.body, lastId)) {
          pauseMs = FIRST_PAUSE_MS;
          lastId = messages.at(-1)?.id ?? lastId;
          onMessages(messages.filter(({ data }) => data !== ''));
          if (messages.some(({ event }) => event === endsWith)) return onState('ended');
        }
      }
    } catch (error) {
      if (signal.aborted) return;
      // What cannot be understood is not the network's fault, and comes again the same.
      if (error instanceof Refusal || error instanceof WrongShape || error instanceof SyntaxError)
        throw error;
      notHeard();
    }
    if (signal.aborted) return;
    onState('lost');
    await pause(pauseMs, signal);
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
  }
}

async function* messagesOf(body: ReadableStream<Uint8Array>, lastId: string): AsyncGenerator<Message[]> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let id = lastId;
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + decoder.decode(value, { stream: true })).split('\n\n');
      rest = blocks.pop() ?? '';
      const messages = blocks.map((block) => messageOf(block, id)).filter((one) => one !== null);
      id = messages.at(-1)?.id ?? id;
      if (messages.length > 0) yield messages;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Null for what only keeps the connection open. */
function messageOf(block: string, lastId: string): Message | null {
  let id: string | null = null;
  let event = 'message';
  const data: string[] = [];
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    const value = line.slice(colon + 1).replace(/^ /, '');
    const name = line.slice(0, Math.max(colon, 0));
    if (name === 'id') id = value;
    if (name === 'event') event = value;
    if (name === 'data') data.push(value);
  }
  if (id === null && data.length === 0) return null;
  return { id: id ?? lastId, event, data: data.join('\n') };
}

async function envelopeOf(response: Response): Promise<Parameters<typeof refusalOf>[1]> {
  return (await response.json().catch(() => null)) as Parameters<typeof refusalOf>[1];
}

function pausing(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
