import type { ApiRequest } from './route.js';

export type Message = {
  readonly event: string;
  readonly data: string;
  /** Where a reader goes on that was cut off behind this message. */
  readonly id?: string;
};

/** Writes to one reader. `gone` fires when it has left, or is so slow that it had better come again. */
export type Outlet = { readonly send: (message: Message) => void; readonly gone: AbortSignal };

/** Proxies and clients drop connections on which nothing happens for half a minute. */
const KEEP_ALIVE_MS = 15_000;
/** What may wait for a slow reader. Beyond it the stream is cut, and the reader resumes from its last id. */
const MOST_WAITING_BYTES = 1_048_576;

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Buffering proxies would hold messages back.
  'x-accel-buffering': 'no',
};

/** An answer that goes on until `produce` returns or the reader leaves. */
export function eventStream(
  { engine, signal, closing }: Pick<ApiRequest<unknown, unknown, unknown>, 'engine' | 'signal' | 'closing'>,
  produce: (outlet: Outlet) => Promise<void>,
): Response {
  const encoder = new TextEncoder();
  const leaving = new AbortController();
  const leave = () => leaving.abort();
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const { signal: gone } = leaving;
        const write = (text: string): void => {
          if (gone.aborted) return;
          controller.enqueue(encoder.encode(text));
          if ((controller.desiredSize ?? 0) < -MOST_WAITING_BYTES) leave();
        };
        let cancelKeepAlive = () => {};
        const keepAlive = (): void => {
          write(': still here\n\n');
          if (!gone.aborted) cancelKeepAlive = engine.alarms.set(KEEP_ALIVE_MS, keepAlive);
        };
        for (const end of [signal, closing]) end.addEventListener('abort', leave, { once: true });
        cancelKeepAlive = engine.alarms.set(KEEP_ALIVE_MS, keepAlive);
        write('retry: 1000\n\n');
        void produce({ send: (message) => write(format(message)), gone })
          .catch((error: unknown) => {
            if (!gone.aborted) engine.log.warn('an event stream broke off', { error });
          })
          .finally(() => {
            cancelKeepAlive();
            for (const end of [signal, closing]) end.removeEventListener('abort', leave);
            leave();
            close(controller);
          });
      },
      cancel: leave,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: 65_536 }),
  );
  return new Response(body, { status: 200, headers: HEADERS });
}

function close(controller: ReadableStreamDefaultController): void {
  try {
    controller.close();
  } catch {
    // The reader closed it first.
  }
}

/** JSON has no line breaks, so that one data line is enough. */
function format({ event, data, id }: Message): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
}
