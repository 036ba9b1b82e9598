import {
  readDeadCallbacks,
  readSubscriptions,
  redrive,
  type DeadCallbacks,
  type Subscription,
} from '../api/operations.js';
import { mayAct } from '../api/session.js';
import { useShared } from '../context.js';
import { usePolled } from '../live/use-polled.js';
import { Title } from '../location.js';
import { Action } from '../parts/action.js';
import { Pages } from '../parts/filters.js';
import { Id } from '../parts/id.js';
import { Loaded } from '../parts/loaded.js';
import { Mark } from '../parts/mark.js';
import { Table, type Column } from '../parts/table.js';
import { Time } from '../parts/time.js';
import { hrefOf } from '../route.js';

type Entry = DeadCallbacks['entries'][number];

const SUBSCRIPTIONS: readonly Column<Subscription>[] = [
  { name: 'subscription', cell: ({ subscription_id: id }) => <Id value={id} /> },
  { name: 'URL', speaks: true, cell: ({ url }) => <span title={url}>{url}</span>, grows: true },
  { name: 'hears of', speaks: true, cell: ({ events, job_types: tasks }) => hears(events, tasks) },
  { name: 'contract', cell: ({ contract }) => contract, isWide: true },
  { name: 'created', cell: ({ created_at: at }) => <Time at={at} />, isWide: true },
];

const DEAD: readonly Column<Entry>[] = [
  { name: 'state', speaks: true, cell: () => <Mark word="failed" label="given up" /> },
  { name: 'subscription', cell: ({ subscription_id: id }) => <Id value={id} />, grows: true },
  {
    name: 'job',
    speaks: true,
    cell: ({ job_id: id }) => (id === null ? '' : <Id value={id} href={hrefOf('jobs', { id })} />),
  },
  { name: 'tries', cell: ({ tries }) => tries, isNumber: true },
  { name: 'since', cell: ({ since }) => <Time at={since} /> },
];

export function Callbacks({ query }: { readonly query: Readonly<Record<string, string>> }) {
  const { session } = useShared();
  const cursor = query['cursor'] ?? '';
  const dead = usePolled(`dead callbacks ${cursor}`, (signal) =>
    readDeadCallbacks({ cursor, limit: 50 }, signal),
  );
  const subscriptions = usePolled('subscriptions', readSubscriptions);
  const again: Column<Entry> = {
    name: '',
    cell: (entry) => <Redrive entries={[entry]} label="Send again" />,
  };
  return (
    <>
      <header>
        <Title name="Callbacks" />
      </header>
      <section>
        <h2>Given up</h2>
        <Loaded of={dead} what="calls">
          {({ entries, next_cursor: next }) => (
            <>
              <Table
                caption="Calls that were given up"
                rows={entries}
                columns={mayAct(session) ? [...DEAD, again] : DEAD}
                keyOf={({ entry_id: id }) => id}
                empty="No call was given up."
              />
              {mayAct(session) && entries.length > 1 && (
                <Redrive entries={entries} label={`Send all ${entries.length} again`} />
              )}
              <Pages view="callbacks" query={query} next={next} />
            </>
          )}
        </Loaded>
      </section>
      <section>
        <h2>Subscriptions</h2>
        <Loaded of={subscriptions} what="subscriptions">
          {(some) => (
            <Table
              caption="Subscriptions"
              rows={some}
              columns={SUBSCRIPTIONS}
              keyOf={({ subscription_id: id }) => id}
              empty="Nobody has subscribed."
            />
          )}
        </Loaded>
      </section>
    </>
  );
}

function hears(events: readonly string[], tasks: readonly string[] | null): string {
  return `${events.join(' and ')} of ${tasks === null ? 'every task' : tasks.join(', ')}`;
}

type Props = { readonly entries: readonly Entry[]; readonly label: string };

function Redrive({ entries, label }: Props) {
  return (
    <Action
      label={label}
      title="Make these calls again?"
      act={(once) =>
        redrive(
          entries.map(({ entry_id: id }) => id),
          once,
        )
      }
      answer={({ redriven }) => <p>On their way: {redriven}.</p>}
    >
      <p>
        {entries.length === 1 ? 'The call is' : `${entries.length} calls are`} made again, with new tries. The
        receiver may have got it before: it is told by the same id.
      </p>
    </Action>
  );
}
