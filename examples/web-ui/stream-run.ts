import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import type { RunSnapshot } from '../../src/index.js';

/** As often as the state of a run is written at most: sooner there is nothing new. */
const LOOK_MS = 250;
/** Often enough for proxies, which close a connection on which nothing comes. */
const PING_EVERY = 60;
const RETRY_MS = 500;

type Streaming = {
  /** The version that the page has already, if it comes back. */
  readonly seen: number | null;
  readonly look: () => Promise<RunSnapshot>;
  readonly signal: AbortSignal;
};

/**
 * Sends a run as server-sent events: the whole snapshot whenever it has changed, with its version as the id of the event, until the
 * run has ended. The store is asked, so it does not matter which process works on the run, nor what a page has missed.
 */
export async function streamRun(response: ServerResponse, { seen, look, signal }: Streaming): Promise<void> {
  let run = await look();
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  response.write(`retry: ${RETRY_MS}\n\n`);
  let sent = seen;
  for (let n = 1; ; n++) {
    const isNew = run.version !== sent;
    sent = run.version;
    const event = `id: ${run.version}\nevent: run\ndata: ${JSON.stringify(run)}\n\n`;
    const text = isNew ? event : n % PING_EVERY === 0 ? ': still here\n\n' : '';
    if (text !== '' && !response.write(text)) await once(response, 'drain', { signal });
    if (run.finished_at !== null) break;
    await setTimeout(LOOK_MS, undefined, { signal });
    run = await look();
  }
  response.end('event: end\ndata:\n\n');
}
