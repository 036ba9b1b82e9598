import type { Attempt, JobDetails, Step } from '../api/jobs.js';
import { mayAct } from '../api/session.js';
import { useShared } from '../context.js';
import { childrenOf, effectsOf, waitsOf, type Child, type LogEvent, type Wait } from '../job-log.js';
import { Id } from '../parts/id.js';
import { Mark } from '../parts/mark.js';
import { Table, type Column } from '../parts/table.js';
import { Span, Time } from '../parts/time.js';
import { hrefOf } from '../route.js';
import { EffectList } from './effect-list.js';
import { SignalAction } from './job-actions.js';

const MOST = 100;

type Props = {
  readonly details: JobDetails;
  readonly events: readonly LogEvent[];
};

/** What a job is made of. Parts that it does not have are not spoken of. */
export function JobParts({ details: { job, steps, attempts }, events }: Props) {
  const waits = job.finished_at === null ? waitsOf(events).filter(({ outcome }) => outcome === null) : [];
  const effects = effectsOf(events);
  const children = childrenOf(events);
  return (
    <>
      {waits.length > 0 && (
        <section>
          <h2>Waits for</h2>
          <Waits waits={waits} jobId={job.job_id} />
        </section>
      )}
      {effects.length > 0 && (
        <section>
          <h2>Effects</h2>
          <EffectList jobId={job.job_id} effects={effects} isOver={job.finished_at !== null} />
        </section>
      )}
      {steps.length > 0 && (
        <section>
          <h2>Steps</h2>
          <Table
            caption="Steps"
            last={MOST}
            rows={steps}
            columns={STEPS}
            keyOf={({ name }) => name}
            empty=""
          />
        </section>
      )}
      <section>
        <h2>Attempts</h2>
        <Table
          caption="Attempts"
          rows={attempts}
          columns={ATTEMPTS}
          keyOf={({ attempt }) => `${attempt}`}
          empty="No worker has taken it yet."
        />
      </section>
      {children.length > 0 && (
        <section>
          <h2>Children</h2>
          <Table
            caption="Children"
            last={MOST}
            rows={children}
            columns={CHILDREN}
            keyOf={({ childId }) => childId}
            empty=""
          />
        </section>
      )}
    </>
  );
}

type WaitsProps = { readonly waits: readonly Wait[]; readonly jobId: string };

function Waits({ waits, jobId }: WaitsProps) {
  const { session } = useShared();
  const columns: Column<Wait>[] = [
    { name: 'kind', speaks: true, cell: ({ kind }) => <Mark word="waiting" label={kind} /> },
    { name: 'key', speaks: true, cell: ({ key }) => <code>{key}</code>, grows: true },
    { name: 'reason', speaks: true, cell: ({ reason }) => reason ?? '', isWide: true },
    { name: 'since', cell: ({ since }) => <Time at={since} /> },
    { name: 'until', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
  ];
  if (mayAct(session)) {
    columns.push({
      name: '',
      // What the engine waits for by itself has a `#` in its key, and no signal ends it.
      cell: ({ key }) => (key.includes('#') ? '' : <SignalAction jobId={jobId} name={key} />),
    });
  }
  return <Table caption="Open waits" rows={waits} columns={columns} keyOf={({ key }) => key} empty="" />;
}

const ATTEMPTS: readonly Column<Attempt>[] = [
  { name: 'attempt', cell: ({ attempt }) => attempt, isNumber: true },
  {
    name: 'outcome',
    speaks: true,
    cell: ({ outcome }) => <Mark word={outcome ?? 'running'} label={outcome ?? 'under way'} />,
  },
  {
    name: 'error',
    speaks: true,
    cell: ({ error_code: code }) => (code === null ? '' : <code>{code}</code>),
    grows: true,
  },
  { name: 'started', cell: ({ started_at: at }) => <Time at={at} /> },
  { name: 'took', cell: ({ started_at: from, ended_at: to }) => <Span from={from} to={to} /> },
];

const STEPS: readonly Column<Step>[] = [
  { name: 'status', speaks: true, cell: ({ status }) => <Mark word={status} /> },
  { name: 'step', speaks: true, cell: ({ name }) => <code title={name}>{name}</code> },
  {
    name: 'message',
    speaks: true,
    cell: ({ message }) => <span title={message ?? ''}>{message}</span>,
    grows: true,
  },
  { name: 'started', cell: ({ started_at: at }) => <Time at={at} /> },
  {
    name: 'took',
    cell: ({ started_at: from, finished_at: to }) => <Span from={from} to={to} />,
    isWide: true,
  },
];

const CHILDREN: readonly Column<Child>[] = [
  { name: 'job', speaks: true, cell: ({ childId: id }) => <Id value={id} href={hrefOf('jobs', { id })} /> },
  { name: 'task', speaks: true, cell: ({ task }) => task, grows: true },
  { name: 'step', speaks: true, cell: ({ step }) => <code>{step}</code> },
];
