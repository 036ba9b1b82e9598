import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { PawlError } from '../errors.js';
import { eventually, InVain } from './eventually.js';
import type { ServerControl } from './ground.js';

const POSTGRES_PORT = 5_432;
/** How long a server may take to come up, or to go. */
const WITHIN_MS = 20_000;

type Address = { readonly host: string; readonly port: number };

/** Stops and starts a server by commands of whoever owns it, and looks whether they do what they say. */
export function serverCommand(
  url: string,
  { stop, start }: { readonly stop: string; readonly start: string },
): ServerControl {
  const { hostname, port } = new URL(url);
  const address = { host: hostname, port: Number(port || POSTGRES_PORT) };
  return {
    async stop() {
      await run('stop-command', stop);
      await reached(address, false, 'stop-command');
    },
    async start() {
      await run('start-command', start);
      await reached(address, true, 'start-command');
    },
  };
}

/** Until the server is as it should be by then. */
async function reached(address: Address, isUp: boolean, option: string): Promise<void> {
  const look = async (): Promise<true | null> => ((await answers(address)) === isUp ? true : null);
  await eventually(look, '', { withinMs: WITHIN_MS }).catch((error: unknown) => {
    if (!(error instanceof InVain)) throw error;
    throw new PawlError('INVALID_OPTION', {
      detail: `${option} ended, and the server ${isUp ? 'does not answer' : 'still answers'}`,
      details: { option },
    });
  });
}

/** Nothing that it says is kept: a server that it starts would keep what it says to open for ever. */
async function run(option: string, command: string): Promise<void> {
  const child = spawn(command, { shell: true, stdio: 'ignore' });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code === 0) return;
  throw new PawlError('INVALID_OPTION', {
    detail: `${option} failed with exit code ${code}: ${command}`,
    details: { option },
  });
}

function answers(address: Address): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(address);
    const end = (open: boolean) => () => {
      socket.destroy();
      resolve(open);
    };
    socket.on('connect', end(true));
    socket.on('error', end(false));
  });
}
