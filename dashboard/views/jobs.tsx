import { JOB_STATUSES, listJobs, type Job } from '../api/jobs.js';
import { usePolled } from '../live/use-polled.js';
import { go, Title } from '../location.js';
import { Choice, Filters, Pages, setFilter, TextFilter } from '../parts/filters.js';
import { Id } from '../parts/id.js';
import { Loaded } from '../parts/loaded.js';
import { Mark } from '../parts/mark.js';
import { Table, type Column } from '../parts/table.js';
import { Span, Time } from '../parts/time.js';
import { hrefOf } from '../route.js';

const PAGE = 50;

const COLUMNS: readonly Column<Job>[] = [
  { name: 'status', speaks: true, cell: ({ status }) => <Mark word={status} /> },
  { name: 'job', speaks: true, cell: ({ job_id: id }) => <Id value={id} href={hrefOf('jobs', { id })} /> },
  { name: 'task', speaks: true, cell: ({ job_type: task }) => <span title={task}>{task}</span>, grows: true },
  {
    name: 'error',
    speaks: true,
    cell: ({ error_code: code }) => (code === null ? '' : <code title={code}>{code}</code>),
  },
  { name: 'queue', speaks: true, cell: ({ queue }) => <span title={queue}>{queue}</span>, isWide: true },
  { name: 'retries', cell: ({ retry_count: count }) => count, isNumber: true, isWide: true },
  { name: 'created', cell: ({ created_at: at }) => <Time at={at} /> },
  {
    name: 'took',
    cell: ({ started_at: from, finished_at: to, status, next_retry_at: next }) =>
      status === 'retrying' ? (
        <>
          again <Time at={next} />
        </>
      ) : (
        <Span from={from} to={to} />
      ),
    isWide: true,
  },
];

export function Jobs({ query }: { readonly query: Readonly<Record<string, string>> }) {
  const { status = '', job_type: task = '', cursor = '' } = query;
  const found = usePolled(`jobs ${JSON.stringify([status, task, cursor])}`, (signal) =>
    listJobs({ status, job_type: task, cursor, limit: PAGE }, signal),
  );
  return (
    <>
      <header>
        <Title name="Jobs" />
        <Filters>
          <Choice
            label="Status"
            value={status}
            options={[['', 'any'], ...JOB_STATUSES.map((one) => [one, one] as const)]}
            onChange={(value) => setFilter('jobs', query, 'status', value)}
          />
          <TextFilter
            label="Task"
            value={task}
            hint="its whole name"
            onEnter={(value) => setFilter('jobs', query, 'job_type', value)}
          />
          <TextFilter
            label="Go to job"
            isJump
            value=""
            hint="its id"
            onEnter={(id) => {
              if (id !== '') go(hrefOf('jobs', { id }));
            }}
          />
        </Filters>
      </header>
      <Loaded of={found} what="jobs">
        {({ jobs, next_cursor: next }) => (
          <>
            <Table
              caption="Jobs, newest first"
              rows={jobs}
              columns={COLUMNS}
              keyOf={({ job_id: id }) => id}
              empty={<Empty isFiltered={status !== '' || task !== ''} />}
            />
            <Pages view="jobs" query={query} next={next} />
          </>
        )}
      </Loaded>
    </>
  );
}

function Empty({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <>
        No job fits. <a href={hrefOf('jobs')}>Show all jobs.</a>
      </>
    );
  }
  return (
    <>
      There are no jobs yet. Start one with <code>pawl start &lt;task&gt;</code>.
    </>
  );
}
