import { useEffect, useRef } from 'preact/hooks';
import { listAlerts } from './api/alerts.js';
import { isOwner, mayAct, signOut, type Session } from './api/session.js';
import { SharedContext } from './context.js';
import { connection, signedOut } from './live/connection.js';
import { useObserved } from './live/observable.js';
import { usePolled } from './live/use-polled.js';
import { title, useRoute } from './location.js';
import { Boundary } from './parts/boundary.js';
import { Mark, Shape } from './parts/mark.js';
import { hrefOf, type Route, type View } from './route.js';
import { clockTime } from './time-in-words.js';
import { ViewOf } from './views/view-of.js';

const NAMES: readonly (readonly [View, string])[] = [
  ['overview', 'Overview'],
  ['alerts', 'Alerts'],
  ['jobs', 'Jobs'],
  ['dead-letters', 'Dead letters'],
  ['effects', 'Effects'],
  ['schedules', 'Schedules'],
  ['queues', 'Queues'],
  ['workers', 'Workers'],
  ['callbacks', 'Callbacks'],
  ['audit', 'Audit'],
];

/** The navigation beside a view, and above it what is wrong with the connection. */
export function Page({ session }: { readonly session: Session }) {
  const route = useRoute();
  const alerts = usePolled('raised alerts', (signal) => listAlerts('raised', signal));
  const raised = alerts.data ?? [];
  const name = useObserved(title);
  const isFirst = useRef(true);
  // Whoever cannot see that the view has changed is taken to where it begins.
  useEffect(() => {
    document.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    if (!isFirst.current) document.getElementById('view')?.focus({ preventScroll: true });
    isFirst.current = false;
  }, [route.view, route.id]);
  useEffect(() => {
    const count = raised.length === 0 ? '' : `(${raised.length}) `;
    document.title = `${count}${name === '' ? '' : `${name} · `}Pawl`;
  }, [raised.length, name]);

  return (
    <SharedContext.Provider value={{ session, alerts }}>
      <a class="skip" href="#view">
        Skip to the view
      </a>
      <aside>
        <p class="brand">
          <a href={hrefOf('overview')}>Pawl</a>
        </p>
        <Navigation
          route={route}
          session={session}
          count={raised.length}
          isUrgent={raised.some(({ severity }) => severity === 'P1')}
        />
        <Who session={session} />
      </aside>
      <main id="view" tabIndex={-1}>
        <Connection />
        <Boundary key={`${route.view ?? ''} ${route.id ?? ''}`}>
          <ViewOf route={route} />
        </Boundary>
      </main>
    </SharedContext.Provider>
  );
}

type NavigationProps = {
  readonly route: Route;
  readonly session: Session;
  readonly count: number;
  readonly isUrgent: boolean;
};

function Navigation({ route, session, count, isUrgent }: NavigationProps) {
  const isShown = (view: View): boolean =>
    view === 'audit' ? mayAct(session) : view === 'workers' ? isOwner(session) : true;
  return (
    <nav class="views" aria-label="Views">
      <ul>
        {NAMES.filter(([view]) => isShown(view)).map(([view, name]) => (
          <li key={view}>
            <a href={hrefOf(view)} aria-current={route.view === view ? 'page' : undefined}>
              {name}
              {view === 'alerts' && count > 0 && (
                <span class={isUrgent ? 'count bad' : 'count warn'} aria-label={`${count} open`}>
                  {count}
                </span>
              )}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Who({ session: { tenant_id: tenant, role, actor, keys } }: { readonly session: Session }) {
  return (
    <div class="who">
      <p>
        <span class="dim">tenant</span> <strong title={tenant}>{tenant}</strong>
      </p>
      <p class="dim" title={actor}>
        {role}
        {!keys && ', no sign-in needed here'}
      </p>
      {keys && (
        <button type="button" class="plain" onClick={() => void leave()}>
          Sign out
        </button>
      )}
    </div>
  );
}

async function leave(): Promise<void> {
  try {
    await signOut();
  } finally {
    signedOut.set(signedOut.value + 1);
  }
}

/** Whether what is seen is what is. */
function Connection() {
  const { lostSince, heardAt } = useObserved(connection);
  if (lostSince === null) {
    return (
      <p
        class="connection"
        role="status"
        title="Everything here is asked for again every 5 seconds, while this tab is seen."
      >
        <Mark word="live" label="Live, every 5 s" />
      </p>
    );
  }
  return (
    <p class="connection is-lost" role="status">
      <Shape of="alarm" /> <strong>Connection lost.</strong>
      {heardAt !== null && ` What you see is from ${clockTime(heardAt)}.`} It is tried again every few
      seconds.
    </p>
  );
}
