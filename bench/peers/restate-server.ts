import { join } from 'node:path';
import { freePort } from '../../test/postgres-server.js';
import { FOLDER } from './peer.js';
import { startServer, type ServerProcess } from './server-process.js';

const PARTITIONS = 4;

export const RESTATE_SETTINGS = `one node, ${PARTITIONS} partitions`;

/** Its server, out of its npm package. The address is that of its ingress, with that of its admin API as the hash. */
export async function startRestate(): Promise<ServerProcess & { readonly url: string }> {
  const [ingress, admin, node] = [await freePort(), await freePort(), await freePort()];
  const platform = `${process.platform}-${process.arch}`;
  const server = await startServer({
    command: join(FOLDER, `node_modules/@restatedev/restate-server-${platform}/bin/restate-server`),
    args: (folder) => ['--base-dir', folder, '--listen-mode', 'tcp'],
    env: {
      RESTATE_DEFAULT_NUM_PARTITIONS: `${PARTITIONS}`,
      RESTATE_BIND_PORT: `${node}`,
      RESTATE_BIND_IP: '127.0.0.1',
      RESTATE_ADVERTISED_HOST: '127.0.0.1',
      RESTATE_INGRESS__BIND_PORT: `${ingress}`,
      RESTATE_ADMIN__BIND_PORT: `${admin}`,
      RESTATE_LOG_FILTER: 'error',
    },
    isUp: async () => {
      for (const path of [`${admin}/health`, `${ingress}/restate/health`]) {
        const { ok, status } = await fetch(`http://127.0.0.1:${path}`);
        if (!ok) throw new Error(`answers with ${status}`);
      }
    },
  });
  return { ...server, url: `http://127.0.0.1:${ingress}/#${admin}` };
}
