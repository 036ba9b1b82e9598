import { useEffect, useRef, useState } from 'preact/hooks';
import { followStream, type StreamState } from '../api/event-stream.js';
import { streamOf } from '../api/jobs.js';
import { readEvent, type LogEvent } from '../job-log.js';

export type JobEvents = {
  readonly events: readonly LogEvent[];
  readonly state: StreamState;
  readonly error: unknown;
};

const NOTHING: JobEvents = { events: [], state: 'connecting', error: null };

/** The log of a job, from its first event on, and as it goes on. A tab that is hidden holds no connection. */
export function useJobEvents(jobId: string): JobEvents {
  const [heard, setHeard] = useState<JobEvents & { jobId: string }>({ ...NOTHING, jobId });
  const lastId = useRef('');

  useEffect(() => {
    const known = new Set<string>();
    let connection: AbortController | null = null;
    let isOver = false;
    lastId.current = '';
    setHeard({ ...NOTHING, jobId });

    const connect = (): void => {
      const current = new AbortController();
      connection = current;
      const following = followStream(
        streamOf(jobId),
        {
          signal: current.signal,
          endsWith: 'end',
          onState: (state) => {
            isOver ||= state === 'ended';
            setHeard((before) => ({ ...before, state }));
          },
          onMessages: (messages) => {
            lastId.current = messages.at(-1)?.id ?? lastId.current;
            const fresh = messages
              .filter(({ event }) => event !== 'end')
              .map(({ data }) => readEvent(data))
              .filter(({ event_id: id }) => !known.has(id));
            for (const { event_id: id } of fresh) known.add(id);
            if (fresh.length > 0) setHeard((before) => ({ ...before, events: [...before.events, ...fresh] }));
          },
        },
        lastId.current,
      );
      following.catch((error: unknown) => {
        isOver = true;
        setHeard((before) => ({ ...before, state: 'lost', error }));
      });
    };
    const seen = (): void => {
      if (document.hidden) connection?.abort();
      else if (!isOver) {
        connection?.abort();
        connect();
      }
    };
    connect();
    document.addEventListener('visibilitychange', seen);
    return () => {
      connection?.abort();
      document.removeEventListener('visibilitychange', seen);
    };
  }, [jobId]);

  return heard.jobId === jobId ? heard : NOTHING;
}
