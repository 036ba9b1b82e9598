import type { AgentOptions } from './agent.js';

export type Settings = AgentOptions & {
  readonly token: string;
  readonly host: string;
  readonly port: number;
};

const LEAST_TOKEN = 16;

/** What the environment says; or what is wrong with it, in a sentence. */
export function readSettings(env: NodeJS.ProcessEnv): Settings | { readonly problem: string } {
  const {
    AGENT_TOKEN: token = '',
    AGENT_HOST: host = '127.0.0.1',
    AGENT_PORT: port = '7300',
    AGENT_STORE: store = 'sqlite:agent.db',
    AGENT_WORKFLOWS: folder = 'examples/agent-server/workflows',
    AGENT_AFTER_RESTART: afterRestart = 'resume',
    AGENT_LEASE_MS: lease = '10000',
  } = env;
  // Without one, everybody who reaches the port could run commands here.
  if (token.length < LEAST_TOKEN) {
    return { problem: `AGENT_TOKEN must be set, to ${LEAST_TOKEN} characters or more.` };
  }
  if (afterRestart !== 'resume' && afterRestart !== 'interrupt') {
    return { problem: `AGENT_AFTER_RESTART is '${afterRestart}', not resume or interrupt.` };
  }
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    return { problem: `AGENT_PORT is '${port}', which is no port.` };
  }
  if (!/^\d{3,7}$/.test(lease)) {
    return { problem: `AGENT_LEASE_MS is '${lease}', not milliseconds from 100.` };
  }
  return { token, host, port: Number(port), store, folder, afterRestart, leaseMs: Number(lease) };
}
