import { useState } from 'preact/hooks';
import { abandonJob, cancelJob, retryJob, signalJob, type Job } from '../api/jobs.js';
import type { Repeating } from '../api/repeating.js';
import { Action } from '../parts/action.js';
import { Id } from '../parts/id.js';
import { ReasonField } from '../parts/reason.js';
import { RepeatingChoice } from '../parts/repeating.js';
import { readJson } from '../read-json.js';
import { hrefOf } from '../route.js';

type Props = { readonly job: Job };

/** What may fail; all else is cancelled. */
const GIVEN_UP_FROM: ReadonlySet<string> = new Set(['running', 'retrying', 'interrupted']);

/** `word`: the job's state as its log has it, as far as that is known. */
export function JobActions({ job, word }: Props & { readonly word: string }) {
  const isOver = job.finished_at !== null;
  return (
    <div class="actions">
      {isOver ? (
        <RetryAction job={job} />
      ) : (
        <>
          <SignalAction jobId={job.job_id} name="" />
          {GIVEN_UP_FROM.has(word) && <AbandonAction job={job} />}
          <CancelAction job={job} />
        </>
      )}
    </div>
  );
}

function CancelAction({ job }: Props) {
  const [reason, setReason] = useState('');
  return (
    <Action
      label="Cancel job"
      title="Cancel this job?"
      isDangerous
      act={(once) => cancelJob(job.job_id, reason.trim(), once)}
      answer={() => <p>The job is cancelled.</p>}
    >
      <p>
        Job <code>{job.job_id}</code> of task <strong>{job.job_type}</strong> ends for good. A handler that
        runs it is aborted, nothing more of it is recorded, and its children are cancelled too. Effects that
        have happened stay.
      </p>
      <ReasonField label="Reason (kept in its log)" value={reason} onChange={setReason} isFirst />
    </Action>
  );
}

function AbandonAction({ job }: Props) {
  const [reason, setReason] = useState('');
  return (
    <Action
      label="Give up"
      title="Give up this job?"
      isDangerous
      missing={
        reason.trim() === '' ? 'A reason is needed: whoever finds the dead letter decides by it.' : null
      }
      act={(once) => abandonJob(job.job_id, reason.trim(), once)}
      answer={({ dlq_id: dlqId }) => (
        <p>
          The job has failed.{' '}
          {dlqId !== null && <a href={hrefOf('dead-letters', { id: dlqId })}>Its dead letter</a>} can be
          requeued.
        </p>
      )}
    >
      <p>
        Job <code>{job.job_id}</code> of task <strong>{job.job_type}</strong> fails for good, and is not tried
        again. A handler that runs it is aborted, nothing more of it is recorded, and its children are
        cancelled. It ends in the dead letters, where its work can be requeued. Effects that have happened
        stay.
      </p>
      <ReasonField label="Reason (kept in its log)" value={reason} onChange={setReason} isFirst />
    </Action>
  );
}

const OUTCOMES = {
  delivered: 'The job waited for it, and goes on.',
  kept: 'The job does not wait for it yet. It is kept for the job.',
  repeated: 'This signal came before: once is all that counts, and nothing was changed.',
} as const;

/** The same rule as the server's, so that a slip is told before it is sent. */
const KEY = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

type SignalProps = { readonly jobId: string; readonly name: string };

/** `name`: what the job is known to wait for; empty if somebody has to say it. */
export function SignalAction({ jobId, name }: SignalProps) {
  const [key, setKey] = useState(name);
  const [text, setText] = useState('');
  const payload = readJson(text);
  const missing = !KEY.test(key)
    ? 'The name begins with a letter or a digit; then letters, digits, dots, dashes, colons and underscores.'
    : payload.problem === null
      ? null
      : `The payload is no JSON: ${payload.problem}`;
  return (
    <Action
      label={name === '' ? 'Signal' : 'Send signal'}
      title="Signal this job"
      missing={missing}
      act={(once) => signalJob(jobId, { key, payload: payload.value }, once)}
      answer={({ outcome }) => <p>{OUTCOMES[outcome]}</p>}
    >
      <p>
        Whoever waits in job <code>{jobId}</code> for a signal of this name goes on with the payload.
      </p>
      <label>
        Name
        <input
          value={key}
          spellcheck={false}
          autofocus={name === ''}
          onInput={(event) => setKey(event.currentTarget.value)}
        />
      </label>
      <label>
        Payload (JSON; nothing is null)
        <textarea
          rows={5}
          value={text}
          spellcheck={false}
          autofocus={name !== ''}
          placeholder={'{ "by": "Ada" }'}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
    </Action>
  );
}

function RetryAction({ job }: Props) {
  const [repeating, setRepeating] = useState<Repeating>('ask');
  return (
    <Action
      label="Retry as new"
      title="Do this work once more?"
      act={(once) => retryJob(job.job_id, repeating, once)}
      answer={(started) => (
        <p>
          Started as <Id value={started.job_id} href={hrefOf('jobs', { id: started.job_id })} />
        </p>
      )}
    >
      <p>
        A new job of task <strong>{job.job_type}</strong> is started with the same input. This one stays as it
        is.
      </p>
      <RepeatingChoice value={repeating} onChange={setRepeating} />
      {job.dlq_id !== null && (
        <p>
          It also lies in the dead letters. To have it dealt with there,{' '}
          <a href={hrefOf('dead-letters', { id: job.dlq_id })}>requeue it</a> instead.
        </p>
      )}
    </Action>
  );
}
