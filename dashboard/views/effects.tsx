import { readUnknownEffects, type UnknownEffect } from '../api/operations.js';
import { mayAct } from '../api/session.js';
import { useShared } from '../context.js';
import { usePolled } from '../live/use-polled.js';
import { Title } from '../location.js';
import { Id } from '../parts/id.js';
import { Loaded } from '../parts/loaded.js';
import { Mark } from '../parts/mark.js';
import { Table, type Column } from '../parts/table.js';
import { Time } from '../parts/time.js';
import { hrefOf } from '../route.js';
import { DecideAction } from './effect-list.js';

const COLUMNS: readonly Column<UnknownEffect>[] = [
  { name: 'outcome', speaks: true, cell: () => <Mark word="unknown" label="nobody knows" /> },
  { name: 'job', speaks: true, cell: ({ job_id: id }) => <Id value={id} href={hrefOf('jobs', { id })} /> },
  { name: 'task', speaks: true, cell: ({ job_type: task }) => task, grows: true },
  {
    name: 'step',
    speaks: true,
    cell: ({ step, occurrence }) => <code>{occurrence === 1 ? step : `${step}#${occurrence}`}</code>,
  },
  { name: 'waits since', cell: ({ waiting_since: at }) => <Time at={at} /> },
];

/** Effects that nobody knows the outcome of. Their jobs wait for an operator, for ever if need be. */
export function Effects() {
  const { session } = useShared();
  const found = usePolled('unknown effects', readUnknownEffects);
  const decide: Column<UnknownEffect> = {
    name: '',
    cell: (effect) => <DecideAction jobId={effect.job_id} effect={effect} />,
  };
  return (
    <>
      <header>
        <Title name="Effects to decide" />
      </header>
      <Loaded of={found} what="effects">
        {(effects) => (
          <Table
            caption="Effects of unknown outcome"
            rows={effects}
            columns={mayAct(session) ? [...COLUMNS, decide] : COLUMNS}
            keyOf={({ job_id: id, step, occurrence, entry }) => JSON.stringify([id, step, occurrence, entry])}
            empty="The outcome of every effect is known. Nobody waits for a decision."
          />
        )}
      </Loaded>
    </>
  );
}
