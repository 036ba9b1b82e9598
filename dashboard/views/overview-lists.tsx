import type { Overview, Queues, Schedule } from '../api/operations.js';
import { Mark } from '../parts/mark.js';
import { Table } from '../parts/table.js';
import { Time } from '../parts/time.js';
import { hrefOf } from '../route.js';
import { queueRows } from './queue-rows.js';
import { timingOf } from './timing-words.js';

const MOST = 8;

export function OverviewQueues({
  queues,
  overview,
}: {
  readonly queues: Queues;
  readonly overview: Overview | null;
}) {
  const rows = queueRows(queues, overview);
  return (
    <section aria-labelledby="queues">
      <h2 id="queues">
        <a href={hrefOf('queues')}>Queues</a>
      </h2>
      <Table
        caption="Queues"
        rows={rows.slice(0, MOST)}
        keyOf={({ queue }) => queue}
        empty="No live worker, no paused queue, and nothing that waits."
        columns={[
          { name: 'queue', speaks: true, cell: ({ queue }) => queue, grows: true },
          {
            name: 'oldest waits',
            cell: ({ oldestDueAt }) => (oldestDueAt === null ? <Nothing /> : <Time at={oldestDueAt} />),
          },
          { name: 'state', speaks: true, cell: ({ word, label }) => <Mark word={word} label={label} /> },
        ]}
      />
      <More count={rows.length} href={hrefOf('queues')} />
    </section>
  );
}

export function NextSchedules({ schedules }: { readonly schedules: readonly Schedule[] }) {
  const due = schedules
    .filter(({ paused, next_fire_at: at }) => !paused && at !== null)
    .toSorted((a, b) => (a.next_fire_at ?? '').localeCompare(b.next_fire_at ?? ''));
  return (
    <section aria-labelledby="next">
      <h2 id="next">
        <a href={hrefOf('schedules')}>Schedules next due</a>
      </h2>
      <Table
        caption="Schedules next due"
        rows={due.slice(0, MOST)}
        keyOf={({ schedule_id: id }) => id}
        empty={schedules.length === 0 ? 'There are no schedules.' : 'None of the schedules is due.'}
        columns={[
          { name: 'schedule', speaks: true, cell: ({ schedule_id: id }) => id, grows: true },
          { name: 'when', speaks: true, cell: timingOf, isWide: true },
          { name: 'next', cell: ({ next_fire_at: at }) => <Time at={at} /> },
        ]}
      />
      <More count={due.length} href={hrefOf('schedules')} />
    </section>
  );
}

function More({ count, href }: { readonly count: number; readonly href: string }) {
  if (count <= MOST) return null;
  return (
    <p class="small">
      <a href={href}>{count - MOST} more</a>
    </p>
  );
}

function Nothing() {
  return <span class="dim">nothing</span>;
}
