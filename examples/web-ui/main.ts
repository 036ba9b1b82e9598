/**
 * A page that starts runs and shows them as they go, and the server behind it. See README.md beside it.
 *
 *     npm run compile
 *     node .build/examples/web-ui/main.js
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerWith } from './answer.js';
import { pageFiles } from './page-files.js';
import { Releases } from './releases.js';

const {
  WEB_PORT: port = '7310',
  WEB_STORE: store = 'sqlite:web-ui.db',
  WEB_PAGE: page = 'examples/web-ui/page',
  WEB_AFTER_RESTART: afterRestart = 'resume',
  WEB_TICK_MS: tickMs = '700',
} = process.env;
if (afterRestart !== 'resume' && afterRestart !== 'interrupt') {
  console.error(`WEB_AFTER_RESTART is '${afterRestart}', not resume or interrupt.`);
  process.exit(78);
}

for (const [name, value] of Object.entries({ WEB_PORT: port, WEB_TICK_MS: tickMs })) {
  if (/^\d{1,5}$/.test(value)) continue;
  console.error(`${name} is '${value}', which is no number from 0 to 99999.`);
  process.exit(78);
}

const files = await pageFiles(page);
// The port first: a second server that is started by mistake must not take up the runs of the one that works. Nobody is asked
// who they are, so it is there for this machine only.
const server = createServer();
server.listen(Number(port), '127.0.0.1');
await once(server, 'listening');
const closing = new AbortController();
const opening = Releases.open({ store, afterRestart, tickMs: Number(tickMs) });
const answering = opening.then((opened) => answerWith({ releases: opened, files, closing: closing.signal }));
server.on('request', (request, response) => void answering.then((answer) => answer(request, response)));
const releases = await opening;
console.log(`The page listens on http://127.0.0.1:${(server.address() as AddressInfo).port}`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    closing.abort();
    server.close();
    server.closeIdleConnections();
    void releases.close();
  });
}
