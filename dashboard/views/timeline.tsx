import { useState } from 'preact/hooks';
import type { LogEvent } from '../job-log.js';
import { Json } from '../parts/json.js';
import { Shape, toneOf } from '../parts/mark.js';
import { clockTime, spanInWords } from '../time-in-words.js';
import { eventWords } from './event-words.js';

/** Most are read from the end: what lies before is shown on request. */
const MOST = 200;

export function Timeline({
  events,
  isOver,
}: {
  readonly events: readonly LogEvent[];
  readonly isOver: boolean;
}) {
  const [showsAll, setShowsAll] = useState(false);
  if (events.length === 0) return <p class="empty">{isOver ? 'It has no events.' : 'None heard yet.'}</p>;
  const shown = showsAll ? events : events.slice(-MOST);
  const hidden = events.length - shown.length;
  const startedAt = Date.parse(events[0]?.occurred_at ?? '');
  return (
    <>
      {hidden > 0 && (
        <button type="button" class="plain" onClick={() => setShowsAll(true)}>
          Show the {hidden.toLocaleString('en')} before
        </button>
      )}
      <ol class="timeline">
        {shown.map((event) => (
          <OneEvent key={event.event_id} event={event} startedAt={startedAt} />
        ))}
      </ol>
    </>
  );
}

function OneEvent({ event, startedAt }: { readonly event: LogEvent; readonly startedAt: number }) {
  const [isOpen, setOpen] = useState(false);
  const at = Date.parse(event.occurred_at);
  const { words, word } = eventWords(event);
  return (
    <li class={toneOf(word)} data-event={event.type}>
      <details onToggle={(toggled) => setOpen(toggled.currentTarget.open)}>
        <summary>
          <Shape of="dot" />
          <time dateTime={event.occurred_at} title={`${clockTime(at)} here\n${event.occurred_at}`}>
            +{spanInWords(at - startedAt)}
          </time>
          <code class="type">{event.type}</code>
          <span class="words">{words}</span>
          <span class="dim actor">{event.actor}</span>
        </summary>
        {isOpen && <Json value={event.data} what={`event ${event.type}`} />}
      </details>
    </li>
  );
}
