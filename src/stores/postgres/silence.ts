import type { Socket } from 'node:net';
import type pg from 'pg';
import { PawlError } from '../../errors.js';

/**
 * How long nothing may pass on a connection while a statement waits for its answer, and how long a connection may take. On a
 * network that swallows what is sent nobody is told anything, and the kernel would wait for a quarter of an hour: for so
 * long a worker could neither claim nor renew its lease. Shorter cuts off statements that are merely slow, which are then
 * sent again; longer leaves workers idle after the network is back. `?silence_ms=…` in the address sets another.
 */
export const DEFAULT_SILENCE_MS = 30_000;

/** Quiet connections are asked after by the kernel, so that one whose other side is gone does not stay for ever. */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 } as const;

/** Takes what is ours out of an address. */
export function takeSilence(address: URL): number {
  const asked = address.searchParams.get('silence_ms');
  address.searchParams.delete('silence_ms');
  if (asked === null) return DEFAULT_SILENCE_MS;
  const silenceMs = Number(asked);
  if (Number.isSafeInteger(silenceMs) && silenceMs > 0) return silenceMs;
  throw new PawlError('STORE_URL_INVALID', {
    detail: `silence_ms is '${asked}', which is no whole number above 0`,
  });
}

type Wired = { readonly connection: { readonly stream: Socket } };

/** Lets a connection go without waiting for the other side, which may be gone: what was sent is still sent. */
export function leave(client: pg.ClientBase): void {
  (client as unknown as Wired).connection.stream.destroySoon();
}

/** The same at once: whoever waits for an answer on it is told that there will be none. */
export function cut(client: pg.ClientBase): void {
  (client as unknown as Wired).connection.stream.destroy();
}
