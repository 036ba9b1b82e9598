import { exec } from 'node:child_process';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import { PawlError } from '../errors.js';
import { eventually } from './eventually.js';
import type { ServerControl } from './ground.js';

const POSTGRES_PORT = 5_432;

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
      await eventually(async () => ((await answers(address)) ? null : true), 'the server has stopped');
    },
    async start() {
      await run('start-command', start);
      await eventually(async () => ((await answers(address)) ? true : null), 'the server answers again');
    },
  };
}

async function run(option: string, command: string): Promise<void> {
  try {
    await promisify(exec)(command);
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    throw new PawlError('INVALID_OPTION', {
      detail: `${option} failed: ${said.trim()}`,
      details: { option },
    });
  }
}

function answers(address: { readonly host: string; readonly port: number }): Promise<boolean> {
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
