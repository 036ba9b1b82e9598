import { Refusal } from '../api/call.js';
import {
  readOverview,
  readQueues,
  readReady,
  readManySchedules,
  readUnknownEffects,
  readWorkers,
} from '../api/operations.js';
import { isOwner } from '../api/session.js';
import { useShared } from '../context.js';
import { usePolled } from '../live/use-polled.js';
import { Title } from '../location.js';
import { Loaded } from '../parts/loaded.js';
import { Mark } from '../parts/mark.js';
import { hrefOf } from '../route.js';
import { AlertList } from './alert-list.js';
import { LiveCounts } from './live-counts.js';
import { NextSchedules, OverviewQueues } from './overview-lists.js';

/** Is anything wrong, and where does one look next. */
export function Overview() {
  const { alerts, session } = useShared();
  const counts = usePolled('overview', readOverview);
  const owner = isOwner(session);
  const more = usePolled(`overview lists ${owner}`, async (signal) => {
    const [queues, schedules, effects, workers] = await Promise.all([
      readQueues(signal),
      readManySchedules(signal),
      readUnknownEffects(signal),
      owner ? readWorkers(signal) : null,
    ]);
    return { queues, schedules, effects, workers };
  });
  return (
    <>
      <header>
        <Title name="Overview" />
        <Ready />
      </header>
      <section aria-label="Alerts">
        <Loaded of={alerts} what="alerts">
          {(raised) =>
            raised.length === 0 ? (
              <p class="calm">
                <Mark word="cleared" label="No alert is open." />
              </p>
            ) : (
              <AlertList alerts={raised} />
            )
          }
        </Loaded>
      </section>
      <Loaded of={counts} what="counts">
        {(overview) => (
          <LiveCounts
            overview={overview}
            effects={more.data?.effects.length ?? null}
            workers={more.data?.workers?.length ?? null}
          />
        )}
      </Loaded>
      <Loaded of={more} what="queues and schedules">
        {({ queues, schedules }) => (
          <div class="columns">
            <OverviewQueues queues={queues} overview={counts.data} />
            <NextSchedules schedules={schedules} />
          </div>
        )}
      </Loaded>
      <p class="dim">
        Ended jobs are not counted: <a href={hrefOf('jobs', { query: { status: 'succeeded' } })}>succeeded</a>
        , <a href={hrefOf('jobs', { query: { status: 'failed' } })}>failed</a>,{' '}
        <a href={hrefOf('jobs', { query: { status: 'cancelled' } })}>cancelled</a>.
      </p>
    </>
  );
}

/** Whether work can progress where this page comes from. */
function Ready() {
  const { error, data } = usePolled('readyz', (signal) => readReady(signal).then(() => true));
  if (error instanceof Refusal) {
    return (
      <p class="ready">
        <Mark word="not ready" label="Not ready:" /> {error.message}
      </p>
    );
  }
  if (error !== null || data === null) return null;
  return (
    <p class="ready" title="The store answers, and the worker of this process, if it has one, can work.">
      <Mark word="ready" label="Ready" />
    </p>
  );
}
