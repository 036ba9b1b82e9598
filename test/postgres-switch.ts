import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PostgresServer } from './postgres-server.js';

/** A test's own Postgres, stopped and started by commands, as an operator would. */
export type PostgresSwitch = {
  readonly stopCommand: string;
  readonly startCommand: string;
  close(): Promise<void>;
};

export async function postgresSwitch({ power }: PostgresServer): Promise<PostgresSwitch | null> {
  if (power === null) return null;
  const door = createServer((request, answer) => {
    const turn = request.url === '/off' ? power.off() : power.on();
    void turn.then(
      () => answer.end(),
      (error: unknown) => answer.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => {
    door.listen(0, '127.0.0.1', resolve);
  });
  const { port } = door.address() as AddressInfo;
  const command = (path: string) =>
    `"${process.execPath}" -e "fetch('http://127.0.0.1:${port}${path}').then((r) => process.exit(r.ok ? 0 : 1))"`;
  return {
    stopCommand: command('/off'),
    startCommand: command('/on'),
    close: () =>
      new Promise((resolve) => {
        door.close(() => resolve());
        door.closeAllConnections();
      }),
  };
}
