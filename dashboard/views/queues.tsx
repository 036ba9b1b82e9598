import { readOverview, readQueues, switchQueue } from '../api/operations.js';
import { isOwner } from '../api/session.js';
import { useShared } from '../context.js';
import { usePolled } from '../live/use-polled.js';
import { Title } from '../location.js';
import { Action } from '../parts/action.js';
import { Loaded } from '../parts/loaded.js';
import { Mark } from '../parts/mark.js';
import { Table, type Column } from '../parts/table.js';
import { Time } from '../parts/time.js';
import { queueRows, type QueueRow } from './queue-rows.js';

const COLUMNS: readonly Column<QueueRow>[] = [
  { name: 'state', speaks: true, cell: ({ word, label }) => <Mark word={word} label={label} /> },
  { name: 'queue', speaks: true, cell: ({ queue }) => queue, grows: true },
  {
    name: 'oldest waits since',
    cell: ({ oldestDueAt: at }) => (at === null ? <span class="dim">nothing waits</span> : <Time at={at} />),
  },
  {
    name: 'paused',
    cell: ({ pausedBy, pausedSince }) =>
      pausedBy === null ? (
        ''
      ) : (
        <>
          <Time at={pausedSince} /> by {pausedBy}
        </>
      ),
  },
];

export function Queues() {
  const { session } = useShared();
  const owner = isOwner(session);
  const found = usePolled('queues', async (signal) => {
    const [queues, overview] = await Promise.all([readQueues(signal), readOverview(signal)]);
    return queueRows(queues, overview);
  });
  const action: Column<QueueRow> = {
    name: '',
    cell: (row) => <Switch row={row} />,
  };
  return (
    <>
      <header>
        <Title name="Queues" />
      </header>
      <Loaded of={found} what="queues">
        {(rows) => (
          <Table
            caption="Queues"
            rows={rows}
            columns={owner ? [...COLUMNS, action] : COLUMNS}
            keyOf={({ queue }) => queue}
            empty="No live worker works on any queue, none is paused, and nothing waits."
          />
        )}
      </Loaded>
      {!owner && (
        <p class="dim">
          Queues are everybody's: an admin of the tenant that owns the installation pauses them.
        </p>
      )}
    </>
  );
}

function Switch({ row }: { readonly row: QueueRow }) {
  const { queue, pausedBy } = row;
  if (pausedBy !== null) {
    return (
      <Action
        label="Resume"
        title={`Resume queue '${queue}'?`}
        act={(once) => switchQueue(queue, 'resume', once)}
        answer={() => <p>Its jobs are taken again.</p>}
      >
        <p>Workers take its jobs again, from the oldest on.</p>
      </Action>
    );
  }
  return (
    <Action
      label="Pause"
      title={`Pause queue '${queue}'?`}
      isDangerous
      act={(once) => switchQueue(queue, 'pause', once)}
      answer={() => <p>It is paused.</p>}
    >
      <p>
        No job of this queue is taken any more, <strong>of any tenant</strong>, until somebody resumes it.
        What runs goes on; new jobs are still accepted, and wait.
      </p>
    </Action>
  );
}
