import type { StoreClock } from '../../ports/clock.js';
import type { Beat, Store } from '../../ports/store.js';
import { localWakeUps } from '../local-wake-ups.js';

type Heard = { readonly lanes: readonly string[]; readonly hub: string; readonly seq: number };
export type AskForNews = (body: string, signal: AbortSignal) => Promise<Heard>;

/** How long the server is asked to wait. Proxies cut connections on which nothing happens for half a minute. */
export const WAIT_MS = 20_000;
/** After a failure: polling finds the work meanwhile. */
const AGAIN_MS = 1_000;

/**
 * Wake-ups from the server, by asking again as soon as it has answered. What this process wakes is heard in it; the others
 * are told by the server, which knows what it has saved.
 */
export function remoteWakeUps(
  clock: Pick<StoreClock, 'after'>,
  { ask, lastBeat }: { ask: AskForNews; lastBeat: () => Beat | null },
): Pick<Store, 'wake' | 'listen'> & { stop(): Promise<void> } {
  const local = localWakeUps();
  let listeners = 0;
  let polling: { readonly stopped: AbortController; readonly done: Promise<void> } | null = null;

  const pause = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const over = (): void => {
        cancel();
        signal.removeEventListener('abort', over);
        resolve();
      };
      const cancel = clock.after(AGAIN_MS, over);
      signal.addEventListener('abort', over);
    });

  async function poll(signal: AbortSignal): Promise<void> {
    let after: Pick<Heard, 'hub' | 'seq'> | null = null;
    while (!signal.aborted) {
      const beat = lastBeat();
      try {
        if (beat === null) throw new Error('nobody is known here yet');
        const { worker, lanes } = beat;
        const {
          lanes: heard,
          hub,
          seq,
        } = await ask(JSON.stringify({ worker, lanes, after, wait_ms: WAIT_MS }), signal);
        after = { hub, seq };
        if (heard.length > 0) local.wake(heard);
      } catch {
        // A hint that is lost costs a poll; whether the server is there, heartbeats and claims tell.
        if (!signal.aborted) await pause(signal);
      }
    }
  }

  const stop = async (): Promise<void> => {
    const last = polling;
    polling = null;
    last?.stopped.abort();
    await last?.done;
  };

  return {
    wake: local.wake,
    listen(hear) {
      const forget = local.listen(hear);
      listeners += 1;
      if (polling === null) {
        const stopped = new AbortController();
        polling = { stopped, done: poll(stopped.signal) };
      }
      return async () => {
        await forget();
        listeners -= 1;
        if (listeners === 0) await stop();
      };
    },
    stop,
  };
}
