import { useEffect } from 'preact/hooks';
import { Refusal } from '../api/call.js';
import { readDetails, type JobDetails } from '../api/jobs.js';
import { mayAct } from '../api/session.js';
import { useShared } from '../context.js';
import { useJobEvents, type JobEvents } from '../live/use-job-events.js';
import { POLL_MS, usePolled } from '../live/use-polled.js';
import { Title } from '../location.js';
import { Id } from '../parts/id.js';
import { Json } from '../parts/json.js';
import { Loaded } from '../parts/loaded.js';
import { Mark } from '../parts/mark.js';
import { Problem } from '../parts/problem.js';
import { Time } from '../parts/time.js';
import { JobActions } from './job-actions.js';
import { Failed, JobFacts } from './job-facts.js';
import { JobParts } from './job-parts.js';
import { Timeline } from './timeline.js';

/** News often come in bursts: what they change is asked for once they pause. */
const PAUSE_MS = 120;

export function JobPage({ jobId }: { readonly jobId: string }) {
  const heard = useJobEvents(jobId);
  const isOver = heard.state === 'ended';
  const details = usePolled(`job ${jobId}`, (signal) => readDetails(jobId, signal), isOver ? null : POLL_MS);
  const { reload } = details;
  const count = heard.events.length;
  useEffect(() => {
    if (count === 0) return;
    const timer = setTimeout(reload, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [count, isOver, reload]);

  if (details.error instanceof Refusal && details.data === null) {
    return (
      <>
        <Title name="Job" />
        <Problem error={details.error} />
      </>
    );
  }
  return (
    <Loaded of={details} what={`job ${jobId}`}>
      {(found) => <Shown details={found} heard={heard} />}
    </Loaded>
  );
}

type Props = { readonly details: JobDetails; readonly heard: JobEvents };

function Shown({ details, heard }: Props) {
  const { session } = useShared();
  const { job, why } = details;
  const { events } = heard;
  // The log has the finer word, such as `waiting` for what is `running` to the list.
  const word = events.at(-1)?.status ?? job.status;
  return (
    <>
      <header>
        <Title name={job.job_type}>
          <span class="job-name">{job.job_type}</span>
        </Title>
        {mayAct(session) && <JobActions job={job} word={word} />}
      </header>
      <p class="lead">
        <Mark word={word} label={word === job.status ? word : `${word} (${job.status})`} />
        <span id="why">
          {why.sentence}
          {why.until !== null && why.code !== 'running' && (
            <>
              {' '}
              (<Time at={why.until} />)
            </>
          )}
        </span>
      </p>
      <p>
        <Id value={job.job_id} wraps /> <Following heard={heard} />
      </p>
      <Failed job={job} events={events} />
      <JobFacts job={job} />
      <div class="columns">
        <section>
          <h2>Input</h2>
          <Json value={job.payload_json} what="the input" />
        </section>
        <section>
          <h2>Result</h2>
          {job.finished_at === null || job.status !== 'succeeded' ? (
            <p class="empty">{job.finished_at === null ? 'None yet.' : 'It has none.'}</p>
          ) : (
            <Json value={job.result_json} what="the result" />
          )}
        </section>
      </div>
      <JobParts details={details} events={events} />
      <section>
        <h2>Events</h2>
        {heard.error !== null && <Problem error={heard.error} />}
        <Timeline events={events} isOver={heard.state === 'ended'} />
      </section>
    </>
  );
}

const WORDS = {
  connecting: ['connecting', 'connecting to its events …'],
  live: ['live', 'followed live'],
  lost: ['lost', 'its events are not heard at the moment; it is tried again'],
  refused: ['lost', 'its events cannot be heard'],
  ended: ['ended', 'it has ended: nothing more will happen'],
} as const;

function Following({ heard: { state } }: { readonly heard: JobEvents }) {
  const [word, label] = WORDS[state];
  return (
    <span class="following" data-stream={state}>
      <Mark word={word} label={label} />
    </span>
  );
}
