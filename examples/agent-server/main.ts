/**
 * An agent: a server on a machine that carries out workflow files there, for whoever has its token. See README.md beside it.
 *
 *     npm run compile
 *     AGENT_TOKEN=$(openssl rand -hex 32) node .build/examples/agent-server/main.js
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent } from './agent.js';
import { answerWith } from './answer.js';
import { readSettings } from './settings.js';

const settings = readSettings(process.env);
if ('problem' in settings) {
  console.error(settings.problem);
  process.exit(78);
}

// The port first: a second agent that is started by mistake must not take up the runs of the one that works.
const server = createServer();
server.listen(settings.port, settings.host);
await once(server, 'listening');
const opening = Agent.open(settings);
const answering = opening.then((agent) => answerWith(agent, settings));
server.on('request', (request, response) => void answering.then((answer) => answer(request, response)));
const agent = await opening;
const { port } = server.address() as AddressInfo;
console.log(`The agent listens on http://${settings.host}:${port}`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    server.close();
    server.closeIdleConnections();
    void agent.close();
  });
}
