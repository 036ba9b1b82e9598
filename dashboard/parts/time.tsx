import { useNow } from '../live/use-now.js';
import { ageInWords, clockTime, spanInWords } from '../time-in-words.js';

/** How long ago, or how far ahead; exactly when is in its title. */
export function Time({ at }: { readonly at: string | null }) {
  const now = useNow();
  if (at === null) return <span class="dim">–</span>;
  const time = Date.parse(at);
  return (
    <time dateTime={at} title={`${clockTime(time)} here\n${at}`}>
      {ageInWords(time, now)}
    </time>
  );
}

/** The time of day, for what is read in order. */
export function ClockTime({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={at}>
      {clockTime(Date.parse(at))}
    </time>
  );
}

/** From when to when; while it goes on, until now. */
export function Span({ from, to }: { readonly from: string | null; readonly to: string | null }) {
  const now = useNow();
  if (from === null) return <span class="dim">–</span>;
  const until = to === null ? now : Date.parse(to);
  return <span>{spanInWords(until - Date.parse(from)) + (to === null ? ' so far' : '')}</span>;
}
