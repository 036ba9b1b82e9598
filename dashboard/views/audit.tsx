import { readAudit, type AuditPage } from '../api/operations.js';
import { usePolled } from '../live/use-polled.js';
import { Title } from '../location.js';
import { Pages } from '../parts/filters.js';
import { Id } from '../parts/id.js';
import { Loaded } from '../parts/loaded.js';
import { Table, type Column } from '../parts/table.js';
import { Time } from '../parts/time.js';
import { hrefOf } from '../route.js';

const COLUMNS: readonly Column<AuditPage['entries'][number]>[] = [
  { name: 'when', speaks: true, cell: ({ at }) => <Time at={at} /> },
  { name: 'what', speaks: true, cell: ({ action }) => action },
  { name: 'subject', cell: ({ subject }) => <Subject id={subject} /> },
  { name: 'who', speaks: true, cell: ({ by }) => <span title={by}>{by}</span> },
  {
    name: 'reason',
    speaks: true,
    cell: ({ reason }) => <span title={reason ?? ''}>{reason}</span>,
    grows: true,
  },
];

export function Audit({ query }: { readonly query: Readonly<Record<string, string>> }) {
  const cursor = query['cursor'] ?? '';
  const found = usePolled(`audit ${cursor}`, (signal) => readAudit({ cursor, limit: 50 }, signal));
  return (
    <>
      <header>
        <Title name="Audit" />
        <p class="dim">Oldest first.</p>
      </header>
      <Loaded of={found} what="the audit">
        {({ entries, next_cursor: next }) => (
          <>
            <Table
              caption="Who did what, oldest first"
              rows={entries}
              columns={COLUMNS}
              keyOf={({ id }) => id}
              empty="Nobody has done anything that is kept here: requeued, discarded, made or revoked keys."
            />
            <Pages view="audit" query={query} next={next} />
          </>
        )}
      </Loaded>
    </>
  );
}

/** What is done about dead letters is most of it; everything else has no page of its own. */
function Subject({ id }: { readonly id: string }) {
  return id.startsWith('dlq_') ? <Id value={id} href={hrefOf('dead-letters', { id })} /> : <Id value={id} />;
}
