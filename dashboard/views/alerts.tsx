import { ALERT_STATES, listAlerts, type Alert, type AlertFilter } from '../api/alerts.js';
import { useShared } from '../context.js';
import { usePolled } from '../live/use-polled.js';
import { Title } from '../location.js';
import { Choice, Filters, setFilter } from '../parts/filters.js';
import { Loaded } from '../parts/loaded.js';
import { AlertList } from './alert-list.js';

const LABELS: Readonly<Record<AlertFilter, string>> = {
  raised: 'open',
  pending: 'not yet for long enough',
  cleared: 'cleared',
  all: 'all',
};

const EMPTY: Readonly<Record<AlertFilter, string>> = {
  raised: 'No alert is open. Nothing is known to be wrong.',
  pending: 'Nothing is about to be raised.',
  cleared: 'None has cleared in the last 30 days.',
  all: 'There has been no alert in the last 30 days.',
};

export function Alerts({ query }: { readonly query: Readonly<Record<string, string>> }) {
  const shared = useShared();
  const asked = query['state'] ?? '';
  const state = ALERT_STATES.find((one) => one === asked) ?? 'all';
  const others = usePolled(`alerts ${state}`, (signal) =>
    state === 'raised' ? Promise.resolve([]) : listAlerts(state, signal),
  );
  const shown = state === 'raised' ? shared.alerts : others;
  return (
    <>
      <header>
        <Title name="Alerts" />
        <Filters>
          <Choice
            label="Show"
            value={state}
            options={ALERT_STATES.toReversed().map((one) => [one, LABELS[one]] as const)}
            onChange={(value) => setFilter('alerts', query, 'state', value)}
          />
        </Filters>
      </header>
      <Loaded of={shown} what="alerts">
        {(alerts) => (alerts.length === 0 ? <p class="empty">{EMPTY[state]}</p> : <Parts alerts={alerts} />)}
      </Loaded>
      <p class="dim">
        Workers look at the rules every 30 seconds. An alert clears by itself when what it tells of is over.
      </p>
    </>
  );
}

const HEADINGS = [
  ['raised', 'Open'],
  ['pending', 'Not yet for long enough'],
  ['cleared', 'Cleared'],
] as const;

function Parts({ alerts }: { readonly alerts: readonly Alert[] }) {
  return (
    <>
      {HEADINGS.map(([state, heading]) => {
        const some = alerts.filter((alert) => alert.state === state);
        if (some.length === 0) return null;
        return (
          <section key={state} aria-label={heading}>
            <h2>{heading}</h2>
            <AlertList alerts={some} />
          </section>
        );
      })}
    </>
  );
}
