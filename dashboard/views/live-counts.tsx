import type { ComponentChildren } from 'preact';
import type { Overview } from '../api/operations.js';
import { Mark, toneOf } from '../parts/mark.js';
import { Time } from '../parts/time.js';
import { hrefOf } from '../route.js';

type Props = {
  readonly overview: Overview;
  /** Null where they are not known. */
  readonly effects: number | null;
  readonly workers: number | null;
};

/** The engine has finer words than the list of jobs can be asked for; these are what each is asked for by. */
const GROUPS = [
  { status: 'queued', words: ['queued', 'scheduled'] },
  { status: 'running', words: ['running', 'unblocked', 'waiting', 'interrupted'] },
  { status: 'retrying', words: ['retrying'] },
] as const;

const PARTS: Readonly<Record<string, string>> = {
  scheduled: 'due later',
  waiting: 'waiting, no worker held',
  interrupted: 'interrupted',
  unblocked: 'about to go on',
};

/** How many there are of what may need somebody. */
export function LiveCounts({ overview, effects, workers }: Props) {
  const counts = new Map(overview.live.map(({ status, count }) => [status, count]));
  const of = (word: string): number => counts.get(word) ?? 0;
  const letters = overview.dead_letters_open;
  return (
    <section aria-label="Counts">
      <dl class="counts">
        {GROUPS.map(({ status, words }) => (
          <Count
            key={status}
            name={status}
            value={words.reduce((sum, word) => sum + of(word), 0)}
            href={hrefOf('jobs', { query: { status } })}
          >
            {words
              .filter((word) => PARTS[word] !== undefined && of(word) > 0)
              .map(
                (word) =>
                  `${share(
                    of(word),
                    words.reduce((sum, one) => sum + of(one), 0),
                  )} ${PARTS[word] ?? ''}`,
              )
              .join(', ')}
          </Count>
        ))}
        <Count
          name="dead letters"
          word={letters > 0 ? 'open' : 'ended'}
          value={letters}
          href={hrefOf('dead-letters')}
        >
          {letters > 0 ? 'open' : ''}
        </Count>
        {effects !== null && (
          <Count
            name="effects to decide"
            word={effects > 0 ? 'unknown' : 'ended'}
            value={effects}
            href={hrefOf('effects')}
          >
            {effects > 0 ? 'nobody knows whether they happened' : ''}
          </Count>
        )}
        {workers !== null && (
          <Count
            name="workers"
            word={workers > 0 ? 'alive' : 'not ready'}
            value={workers}
            href={hrefOf('workers')}
          >
            {workers > 0 ? 'alive' : 'nobody takes jobs'}
          </Count>
        )}
      </dl>
      <p class="dim small">
        Jobs that have not ended. Counted <Time at={overview.counted_at} />.
      </p>
    </section>
  );
}

/** The figure beside it need not be said twice. */
function share(part: number, whole: number): string {
  return part === whole ? 'all' : part.toLocaleString('en');
}

type CountProps = {
  readonly name: string;
  readonly word?: string;
  readonly value: number;
  readonly href: string;
  readonly children?: ComponentChildren;
};

function Count({ name, word = name, value, href, children }: CountProps) {
  return (
    <div class={value === 0 && toneOf(word) !== 'bad' ? 'count-of none' : 'count-of'} data-count={name}>
      <dt>
        <Mark word={word} label={name} />
      </dt>
      <dd>
        <a href={href}>{value.toLocaleString('en')}</a>
        <span class="dim">{children}</span>
      </dd>
    </div>
  );
}
