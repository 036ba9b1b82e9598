import { openDatabase } from '../../src/stores/sqlite/driver.js';
import { CONCURRENCY, workflowSystem, type Backend } from './openworkflow.js';
import { load, type Peer } from './peer.js';

const OPEN = `SELECT count(*) AS count FROM workflow_runs WHERE status IN ('pending', 'running', 'sleeping')`;

export const peer: Peer = {
  name: 'openworkflow-sqlite',
  packages: ['openworkflow'],
  settings: `SQLite backend, concurrency ${CONCURRENCY}, starts one by one (it has no bulk)`,
  on: 'sqlite',
  share: { 'single-starts': 0.25, 'bulk-starts': 0.1, drain: 0.1, 'five-steps': 0.04 },
  async open(url, handlers) {
    const { BackendSqlite } = await load<{ BackendSqlite: { connect(path: string): Backend } }>(
      'openworkflow/sqlite',
    );
    const path = url.slice(7);
    const backend = BackendSqlite.connect(path);
    const reader = await openDatabase(path);
    const left = async () => Number(reader.prepare(OPEN).get()?.['count']);
    const close = async () => {
      reader.close();
      await backend.stop();
    };
    return workflowSystem(backend, handlers, { left, close });
  },
};
