import { readWorkers, type Worker } from '../api/operations.js';
import { usePolled } from '../live/use-polled.js';
import { Title } from '../location.js';
import { Id } from '../parts/id.js';
import { Loaded } from '../parts/loaded.js';
import { Mark } from '../parts/mark.js';
import { Table, type Column } from '../parts/table.js';
import { Time } from '../parts/time.js';

const COLUMNS: readonly Column<Worker>[] = [
  { name: 'state', speaks: true, cell: () => <Mark word="alive" /> },
  { name: 'worker', speaks: true, cell: ({ worker_id: id }) => <Id value={id} /> },
  { name: 'queues', cell: ({ queues }) => queues.join(', '), grows: true },
  { name: 'lease ends', cell: ({ lease_until: at }) => <Time at={at} /> },
  { name: 'incarnation', cell: ({ incarnation }) => <Id value={incarnation} />, isWide: true },
];

export function Workers() {
  const found = usePolled('workers', readWorkers);
  return (
    <>
      <header>
        <Title name="Workers" />
      </header>
      <Loaded of={found} what="workers">
        {(workers) => (
          <Table
            caption="Workers that are alive"
            rows={workers}
            columns={COLUMNS}
            keyOf={({ incarnation }) => incarnation}
            empty={
              <>
                No worker is alive: nobody takes jobs. Start one with <code>pawl worker</code>.
              </>
            }
          />
        )}
      </Loaded>
      <p class="dim">
        A worker is alive while its lease holds. Jobs of one that is gone are taken over by the others.
      </p>
    </>
  );
}
