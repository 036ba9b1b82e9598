import { Refusal } from '../api/call.js';
import { readLetter, type Letter } from '../api/dead-letters.js';
import { mayAct } from '../api/session.js';
import { useShared } from '../context.js';
import { usePolled } from '../live/use-polled.js';
import { Title } from '../location.js';
import { Id } from '../parts/id.js';
import { Json } from '../parts/json.js';
import { Loaded } from '../parts/loaded.js';
import { Mark } from '../parts/mark.js';
import { Problem } from '../parts/problem.js';
import { Table } from '../parts/table.js';
import { ClockTime, Span, Time } from '../parts/time.js';
import { hrefOf } from '../route.js';
import { LetterMark } from './dead-letters.js';
import { Fact } from './job-facts.js';
import { ApproveAction, DiscardAction, RequeueAction } from './letter-actions.js';

/** What led to a dead letter, and who did what with it. */
export function DeadLetter({ dlqId }: { readonly dlqId: string }) {
  const found = usePolled(`letter ${dlqId}`, (signal) => readLetter(dlqId, signal));
  if (found.error instanceof Refusal && found.data === null) {
    return (
      <>
        <Title name="Dead letter" />
        <Problem error={found.error} />
      </>
    );
  }
  return (
    <Loaded of={found} what={`dead letter ${dlqId}`}>
      {(letter) => <Shown letter={letter} />}
    </Loaded>
  );
}

function Shown({ letter }: { readonly letter: Letter }) {
  const { session } = useShared();
  const { attempts, last_events: lastEvents } = letter.context_snapshot;
  const isOpen = letter.status === 'open';
  const { discard_asked: asked } = letter;
  return (
    <>
      <header>
        <Title name={`Dead letter of ${letter.job_type}`} />
        {isOpen && mayAct(session) && (
          <div class="actions">
            <RequeueAction letter={letter} />
            {asked === null ? (
              <DiscardAction letter={letter} />
            ) : (
              asked.by !== session.actor && <ApproveAction letter={letter} />
            )}
          </div>
        )}
      </header>
      <p class="lead">
        <LetterMark letter={letter} />
        <span>
          Its job failed for good with <code>{letter.error_code}</code> ({letter.error_class}). What it said
          is on the page of <a href={hrefOf('jobs', { id: letter.job_id })}>its job</a>.
        </span>
      </p>
      <p>
        <Id value={letter.dlq_id} wraps />
      </p>
      {isOpen && asked !== null && (
        <p class="failure warn">
          <strong>{asked.by === session.actor ? 'You' : asked.by}</strong> asked <Time at={asked.at} /> for it
          to be discarded: {asked.reason}{' '}
          {asked.by === session.actor && 'Somebody else, with a key of their own, must agree.'}
        </p>
      )}
      <dl class="facts">
        <Fact name="job">
          <Id value={letter.job_id} href={hrefOf('jobs', { id: letter.job_id })} />
        </Fact>
        {letter.requeued_as !== null && (
          <Fact name="requeued as">
            <Id value={letter.requeued_as} href={hrefOf('jobs', { id: letter.requeued_as })} />
          </Fact>
        )}
        <Fact name="first failed">
          <Time at={letter.first_failed_at} />
        </Fact>
        <Fact name="given up">
          <Time at={letter.created_at} />
        </Fact>
      </dl>
      <section>
        <h2>Input</h2>
        <Json value={letter.payload_snapshot} what="the input" />
      </section>
      <section>
        <h2>Attempts</h2>
        <Table
          caption="Attempts"
          rows={attempts}
          keyOf={({ attempt }) => `${attempt}`}
          empty="No worker ever took it."
          columns={[
            { name: 'attempt', cell: ({ attempt }) => attempt, isNumber: true },
            { name: 'outcome', speaks: true, cell: ({ outcome }) => <Mark word={outcome ?? 'running'} /> },
            { name: 'error', speaks: true, cell: ({ error_code: code }) => code ?? '', grows: true },
            { name: 'started', cell: ({ started_at: at }) => <Time at={at} /> },
            { name: 'took', cell: ({ started_at: from, ended_at: to }) => <Span from={from} to={to} /> },
          ]}
        />
      </section>
      <div class="columns">
        <section>
          <h2>Last events</h2>
          <Table
            caption="Last events"
            rows={lastEvents.map((event, index) => ({ ...event, index }))}
            keyOf={({ index }) => `${index}`}
            empty="None."
            columns={[
              { name: 'at', speaks: true, cell: ({ at }) => <ClockTime at={at} /> },
              { name: 'event', speaks: true, cell: ({ type }) => <code>{type}</code>, grows: true },
            ]}
          />
        </section>
        <section>
          <h2>Who did what</h2>
          <Table
            caption="Who did what"
            rows={letter.trail.map((action, index) => ({ ...action, index }))}
            keyOf={({ index }) => `${index}`}
            empty="Nobody has done anything about it."
            columns={[
              { name: 'when', speaks: true, cell: ({ at }) => <Time at={at} /> },
              { name: 'what', speaks: true, cell: ({ action }) => action },
              { name: 'who', speaks: true, cell: ({ by }) => <span title={by}>{by}</span> },
              {
                name: 'reason',
                speaks: true,
                cell: ({ reason }) => <span title={reason ?? ''}>{reason}</span>,
                grows: true,
              },
            ]}
          />
        </section>
      </div>
    </>
  );
}
