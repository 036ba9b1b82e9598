import { PawlError } from '../errors.js';
import type { ApiRequest } from './route.js';

/** Writes to one reader. */
export type Outlet = {
  readonly send: (text: Uint8Array) => void;
  /** Settles once the reader has taken most of what it was sent, or has gone. */
  readonly hasRoom: () => Promise<void>;
  /** For a reader that is so slow that it had better come again: what it has not taken is dropped. */
  readonly cut: () => void;
  /** Fires when the reader has left, or was cut off. */
  readonly gone: AbortSignal;
};

/** Proxies and clients drop connections on which nothing happens for half a minute. */
const KEEP_ALIVE_MS = 15_000;
/** What may wait for a slow reader. Beyond it the stream is cut, and the reader resumes from its last id. */
const MOST_WAITING_BYTES = 1_048_576;
/** How often it is looked whether the reader's key still stands. */
const ADMIT_AGAIN_MS = 5_000;

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Buffering proxies would hold messages back.
  'x-accel-buffering': 'no',
  // Nothing comes behind a stream: a server that closes need not wait whether its reader asks for more.
  connection: 'close',
};

const encoder = new TextEncoder();
const RETRY = encoder.encode('retry: 1000\n\n');
const STILL_HERE = encoder.encode(': still here\n\n');

type Needed = 'engine' | 'signal' | 'closing' | 'admitAgain' | 'hangUp';

/** An answer that goes on until `produce` returns or the reader leaves. */
export function eventStream(
  { engine, signal, closing, admitAgain, hangUp }: Pick<ApiRequest<unknown, unknown, unknown>, Needed>,
  produce: (outlet: Outlet) => Promise<void>,
): Response {
  const leaving = new AbortController();
  const { signal: gone } = leaving;
  let makeRoom = () => {};
  const leave = () => {
    leaving.abort();
    makeRoom();
  };
  /** What was queued would otherwise wait, with its connection, for as long as nobody reads. */
  const cut = (): void => {
    leave();
    hangUp();
  };
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const send = (text: Uint8Array): void => {
          if (gone.aborted) return;
          // Looked at before: one message is sent however large it is, or its reader would come for it again and again.
          if ((controller.desiredSize ?? 0) < -MOST_WAITING_BYTES) cut();
          else controller.enqueue(text);
        };
        const hasRoom = async (): Promise<void> => {
          if (gone.aborted || (controller.desiredSize ?? 0) > 0) return;
          await new Promise<void>((resolve) => {
            makeRoom = resolve;
          });
        };
        let cancelKeepAlive = () => {};
        const keepAlive = (): void => {
          // One that has yet to take what was sent hears from us anyway.
          if ((controller.desiredSize ?? 0) > 0) send(STILL_HERE);
          if (!gone.aborted) cancelKeepAlive = engine.alarms.set(KEEP_ALIVE_MS, keepAlive);
        };
        let cancelAdmission = () => {};
        const checkAdmission = (): void => {
          admitAgain().catch((error: unknown) => {
            if (isRefusal(error)) cut();
          });
          if (!gone.aborted) cancelAdmission = engine.alarms.set(ADMIT_AGAIN_MS, checkAdmission);
        };
        for (const end of [signal, closing]) {
          end.addEventListener('abort', leave, { once: true });
          if (end.aborted) leave();
        }
        cancelKeepAlive = engine.alarms.set(KEEP_ALIVE_MS, keepAlive);
        cancelAdmission = engine.alarms.set(ADMIT_AGAIN_MS, checkAdmission);
        send(RETRY);
        void produce({ send, hasRoom, cut, gone })
          .catch((error: unknown) => {
            if (!gone.aborted) engine.log.warn('an event stream broke off', { error });
          })
          .finally(() => {
            cancelKeepAlive();
            cancelAdmission();
            for (const end of [signal, closing]) end.removeEventListener('abort', leave);
            leave();
            close(controller);
          });
      },
      pull: () => makeRoom(),
      cancel: leave,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: 65_536 }),
  );
  return new Response(body, { status: 200, headers: HEADERS });
}

/** A store that cannot be asked is no reason to send anybody away. */
function isRefusal(error: unknown): boolean {
  return error instanceof PawlError && !error.retryable;
}

function close(controller: ReadableStreamDefaultController): void {
  try {
    controller.close();
  } catch {
    // The reader closed it first.
  }
}
