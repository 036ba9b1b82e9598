import {
  deleteSchedule,
  readSchedules,
  switchSchedule,
  triggerSchedule,
  type Schedule,
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
import { timingOf } from './timing-words.js';

const COLUMNS: readonly Column<Schedule>[] = [
  {
    name: 'state',
    speaks: true,
    cell: ({ paused, next_fire_at: next }) => (
      <Mark word={paused ? 'paused' : next === null ? 'ended' : 'active'} />
    ),
  },
  { name: 'schedule', speaks: true, cell: ({ schedule_id: id }) => <Id value={id} /> },
  { name: 'task', speaks: true, cell: ({ job_type: task }) => <span title={task}>{task}</span>, grows: true },
  { name: 'when', speaks: true, cell: timingOf },
  { name: 'next', cell: ({ next_fire_at: at, paused }) => (paused ? '' : <Time at={at} />) },
  { name: 'last', cell: ({ last_fire_at: at }) => <Time at={at} />, isWide: true },
  {
    name: 'last job',
    cell: ({ last_job_id: id }) => (id === null ? '' : <Id value={id} href={hrefOf('jobs', { id })} />),
    isWide: true,
  },
  { name: 'skipped', cell: ({ skipped }) => skipped, isNumber: true, isWide: true },
];

export function Schedules({ query }: { readonly query: Readonly<Record<string, string>> }) {
  const { session } = useShared();
  const cursor = query['cursor'] ?? '';
  const found = usePolled(`schedules ${cursor}`, (signal) => readSchedules({ cursor, limit: 50 }, signal));
  const actions: Column<Schedule> = {
    name: '',
    cell: (schedule) => <Actions schedule={schedule} />,
  };
  return (
    <>
      <header>
        <Title name="Schedules" />
      </header>
      <Loaded of={found} what="schedules">
        {({ schedules, next_cursor: next }) => (
          <>
            <Table
              caption="Schedules"
              rows={schedules}
              columns={mayAct(session) ? [...COLUMNS, actions] : COLUMNS}
              keyOf={({ schedule_id: id }) => id}
              empty={
                <>
                  There are no schedules. Applications declare them; see <code>pawl schedules --help</code>.
                </>
              }
            />
            <Pages view="schedules" query={query} next={next} />
          </>
        )}
      </Loaded>
    </>
  );
}

type Props = { readonly schedule: Schedule };

function Actions({ schedule }: Props) {
  const { schedule_id: id, paused, job_type: task } = schedule;
  return (
    <span class="actions">
      <Action
        label="Trigger"
        title={`Fire '${id}' now?`}
        act={(once) => triggerSchedule(id, once)}
        answer={({ job_id: job }) => (
          <p>
            Started <Id value={job} href={hrefOf('jobs', { id: job })} />
          </p>
        )}
      >
        <p>
          A job of task <strong>{task}</strong> is started now, out of turn. The next firing stays where it
          is.
        </p>
      </Action>
      {paused ? (
        <Action
          label="Resume"
          title={`Resume '${id}'?`}
          act={(once) => switchSchedule(id, 'resume', once)}
          answer={() => <p>It fires again.</p>}
        >
          <p>It fires again from now on. What was missed meanwhile is left out.</p>
        </Action>
      ) : (
        <Action
          label="Pause"
          title={`Pause '${id}'?`}
          act={(once) => switchSchedule(id, 'pause', once)}
          answer={() => <p>It is paused.</p>}
        >
          <p>
            It does not fire until somebody resumes it. What is missed meanwhile is left out. Jobs that run go
            on.
          </p>
        </Action>
      )}
      <Action
        label="Delete"
        title={`Delete '${id}'?`}
        isDangerous
        act={(once) => deleteSchedule(id, once)}
        answer={() => <p>It is deleted.</p>}
      >
        <p>
          It never fires again. Jobs that it has started go on. An application that declares it makes it again
          when it starts.
        </p>
      </Action>
    </span>
  );
}
