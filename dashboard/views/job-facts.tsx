import type { ComponentChildren } from 'preact';
import type { Job } from '../api/jobs.js';
import { lastFailure, type LogEvent } from '../job-log.js';
import { Id } from '../parts/id.js';
import { LongText } from '../parts/json.js';
import { Span, Time } from '../parts/time.js';
import { hrefOf } from '../route.js';

export function JobFacts({ job }: { readonly job: Job }) {
  const { dlq_id: dlqId, requeued_from: requeuedFrom, next_retry_at: next } = job;
  return (
    <dl class="facts">
      <Fact name="queue">{job.queue}</Fact>
      <Fact name="priority">{job.priority}</Fact>
      <Fact name="retries">{job.retry_count}</Fact>
      <Fact name="created">
        <Time at={job.created_at} />
      </Fact>
      {job.started_at === null && (
        <Fact name="due">
          <Time at={job.scheduled_at} />
        </Fact>
      )}
      <Fact name="started">
        <Time at={job.started_at} />
      </Fact>
      <Fact name={job.finished_at === null ? 'under way' : 'took'}>
        <Span from={job.started_at} to={job.finished_at} />
      </Fact>
      <Fact name="finished">
        <Time at={job.finished_at} />
      </Fact>
      {next !== null && (
        <Fact name="next try">
          <Time at={next} />
        </Fact>
      )}
      {dlqId !== null && (
        <Fact name="dead letter">
          <Id value={dlqId} href={hrefOf('dead-letters', { id: dlqId })} />
        </Fact>
      )}
      {requeuedFrom !== null && (
        <Fact name="requeued from">
          <Id value={requeuedFrom} href={hrefOf('dead-letters', { id: requeuedFrom })} />
        </Fact>
      )}
      {job.continues !== null && (
        <Fact name="goes on with">
          <Id value={job.continues} href={hrefOf('jobs', { id: job.continues })} />
        </Fact>
      )}
      {job.idempotency_key !== job.job_id && (
        <Fact name="idempotency key">
          <Id value={job.idempotency_key} />
        </Fact>
      )}
      <Fact name="trace">
        <Id value={job.trace_id} />
      </Fact>
    </dl>
  );
}

export function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** What it failed with, the last time. A job that has succeeded since has got over it. */
export function Failed({ job, events }: { readonly job: Job; readonly events: readonly LogEvent[] }) {
  const failure = lastFailure(events);
  if (failure === null || job.status === 'succeeded') return null;
  return (
    <section class={job.status === 'failed' ? 'failure bad' : 'failure warn'} aria-label="Failure">
      <p>
        <strong>{job.status === 'failed' ? 'Failed with' : 'Last failed with'}</strong>{' '}
        <code>{failure.code}</code> <Time at={failure.at} />
      </p>
      <LongText text={failure.message} what="the error" />
    </section>
  );
}
