import { utc } from '../../contracts/index.js';
import { queueOf } from '../../kernel/index.js';
import { print } from '../console.js';
import { withApp } from '../open-app.js';
import { command, examples, type Flags, type Register } from '../shell.js';
import { table } from '../table.js';

export const registerWorkers: Register = (program, shell) => {
  const workers = command(program, 'workers', 'The workers that are alive, by their leases.').action(
    (options: Flags) =>
      shell.ends(
        withApp(shell, options, async ({ engine }) => {
          const found = await engine.store.workers({ incarnations: null });
          const alive = found.workers
            .filter(({ leaseUntil }) => leaseUntil > found.now)
            .map(({ worker, leaseUntil, lanes }) => ({
              worker_id: worker.id,
              incarnation: worker.incarnation,
              lease_until: utc(leaseUntil),
              queues: [...new Set(lanes.map(queueOf))].toSorted(),
            }));
          const rows = alive.map((one) => [one.worker_id, one.queues.join(', '), one.lease_until]);
          const text =
            rows.length === 0 ? 'No worker is alive.' : table(['WORKER', 'QUEUES', 'LEASE UNTIL'], rows);
          print(shell.console, { json: options.json ?? false, data: { workers: alive }, text });
          return 0;
        }),
      ),
  );
  examples(workers, 'pawl workers', 'pawl workers --json');
};
