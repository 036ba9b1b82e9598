import { useEffect, useState } from 'preact/hooks';
import { followStream, type Message, type StreamState } from '../api/event-stream.js';
import { streamOf } from '../api/jobs.js';
import { readEvent, type LogEvent } from '../job-log.js';
import { held } from './hold.js';

export type JobEvents = {
  readonly events: readonly LogEvent[];
  /** `refused`: it will not be asked again. */
  readonly state: StreamState | 'refused';
  readonly error: unknown;
};

const NOTHING: JobEvents = { events: [], state: 'connecting', error: null };

/**
 * The log of a job, from its first event on, and as it goes on. A tab that is hidden holds no connection: a browser has
 * only a few for each server. What is heard while a question is open is shown after it.
 */
export function useJobEvents(jobId: string): JobEvents {
  const [shown, setShown] = useState({ jobId, heard: NOTHING });

  useEffect(() => {
    const known = new Set<string>();
    let heard = NOTHING;
    let lastId = '';
    let isOver = false;
    let connection: AbortController | null = null;

    const show = (): void => {
      if (held.value === 0) setShown({ jobId, heard });
    };
    const hear = (news: Partial<JobEvents>): void => {
      heard = { ...heard, ...news };
      show();
    };
    const onMessages = (messages: readonly Message[]): void => {
      lastId = messages.at(-1)?.id ?? lastId;
      const fresh = messages
        .filter(({ event }) => event !== 'end')
        .map(({ data }) => readEvent(data))
        .filter(({ event_id: id }) => !known.has(id));
      for (const { event_id: id } of fresh) known.add(id);
      if (fresh.length > 0) hear({ events: [...heard.events, ...fresh] });
    };
    const onState = (state: StreamState): void => {
      isOver = state === 'ended';
      hear({ state });
    };
    const connect = (): void => {
      const { signal } = (connection = new AbortController());
      followStream(streamOf(jobId), { signal, endsWith: 'end', onMessages, onState }, lastId).catch(
        (error: unknown) => {
          isOver = true;
          hear({ state: 'refused', error });
        },
      );
    };
    const seen = (): void => {
      connection?.abort();
      if (!document.hidden && !isOver) connect();
    };
    show();
    connect();
    document.addEventListener('visibilitychange', seen);
    const release = held.observe(show);
    return () => {
      connection?.abort();
      release();
      document.removeEventListener('visibilitychange', seen);
    };
  }, [jobId]);

  return shown.jobId === jobId ? shown.heard : NOTHING;
}
