import { LETTER_STATUSES, listLetters, type Letter } from '../api/dead-letters.js';
import { mayAct } from '../api/session.js';
import { useShared } from '../context.js';
import { usePolled } from '../live/use-polled.js';
import { Title } from '../location.js';
import { Choice, Filters, Pages, setFilter, TextFilter } from '../parts/filters.js';
import { Id } from '../parts/id.js';
import { Loaded } from '../parts/loaded.js';
import { Mark } from '../parts/mark.js';
import { Table, type Column } from '../parts/table.js';
import { Time } from '../parts/time.js';
import { hrefOf } from '../route.js';
import { RequeueAction, RequeueAllAction } from './letter-actions.js';

const PAGE = 50;

const COLUMNS: readonly Column<Letter>[] = [
  { name: 'status', speaks: true, cell: (letter) => <LetterMark letter={letter} /> },
  {
    name: 'dead letter',
    speaks: true,
    cell: ({ dlq_id: id }) => <Id value={id} href={hrefOf('dead-letters', { id })} />,
  },
  { name: 'task', speaks: true, cell: ({ job_type: task }) => <span title={task}>{task}</span>, grows: true },
  { name: 'error', speaks: true, cell: ({ error_code: code }) => <code title={code}>{code}</code> },
  {
    name: 'attempts',
    cell: ({ context_snapshot: { attempts } }) => attempts.length,
    isNumber: true,
    isWide: true,
  },
  { name: 'first failed', cell: ({ first_failed_at: at }) => <Time at={at} />, isWide: true },
  { name: 'given up', cell: ({ created_at: at }) => <Time at={at} /> },
];

const REQUEUE: Column<Letter> = {
  name: '',
  cell: (letter) => (letter.status === 'open' ? <RequeueAction letter={letter} /> : ''),
};

export function DeadLetters({ query }: { readonly query: Readonly<Record<string, string>> }) {
  const { session } = useShared();
  const { status = 'open', job_type: task = '', error_code: code = '', cursor = '' } = query;
  const found = usePolled(`letters ${JSON.stringify([status, task, code, cursor])}`, (signal) =>
    listLetters({ status, job_type: task, error_code: code, cursor, limit: PAGE }, signal),
  );
  const acts = mayAct(session);
  const columns = acts ? [...COLUMNS, REQUEUE] : COLUMNS;
  return (
    <>
      <header>
        <Title name="Dead letters" />
        <Filters>
          <Choice
            label="Status"
            value={status}
            options={LETTER_STATUSES.map((one) => [one, one === 'all' ? 'any' : one] as const)}
            onChange={(value) => setFilter('dead-letters', query, 'status', value === 'open' ? '' : value)}
          />
          <TextFilter
            label="Task"
            value={task}
            hint="its whole name"
            onEnter={(value) => setFilter('dead-letters', query, 'job_type', value)}
          />
          <TextFilter
            label="Error"
            value={code}
            hint="its whole code"
            onEnter={(value) => setFilter('dead-letters', query, 'error_code', value)}
          />
          {acts && <RequeueAllAction task={task} code={code} />}
        </Filters>
      </header>
      <Loaded of={found} what="dead letters">
        {({ items, next_cursor: next }) => (
          <>
            <Table
              caption="Dead letters, oldest first"
              rows={items}
              columns={columns}
              keyOf={({ dlq_id: id }) => id}
              empty={<Empty isFiltered={task !== '' || code !== ''} status={status} />}
            />
            <Pages view="dead-letters" query={query} next={next} />
          </>
        )}
      </Loaded>
    </>
  );
}

export function LetterMark({ letter }: { readonly letter: Letter }) {
  const isAsked = letter.status === 'open' && letter.discard_asked !== null;
  return <Mark word={letter.status} label={isAsked ? 'open, discard asked' : letter.status} />;
}

function Empty({ isFiltered, status }: { readonly isFiltered: boolean; readonly status: string }) {
  if (!isFiltered && status === 'open')
    return <>No dead letter is open: no job was given up that nobody dealt with.</>;
  return (
    <>
      No dead letter fits. <a href={hrefOf('dead-letters')}>Show the open ones.</a>
    </>
  );
}
