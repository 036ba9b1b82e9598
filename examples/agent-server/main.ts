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

const agent = await Agent.open(settings);
const server = createServer(answerWith(agent, settings));
server.listen(settings.port, settings.host);
await once(server, 'listening');
const { port } = server.address() as AddressInfo;
console.log(`The agent listens on http://${settings.host}:${port}`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    server.close();
    server.closeIdleConnections();
    void agent.close();
  });
}
