import { Title } from '../location.js';
import { hrefOf, type Route } from '../route.js';
import { Alerts } from './alerts.js';
import { Audit } from './audit.js';
import { Callbacks } from './callbacks.js';
import { DeadLetter } from './dead-letter.js';
import { DeadLetters } from './dead-letters.js';
import { Effects } from './effects.js';
import { JobPage } from './job.js';
import { Jobs } from './jobs.js';
import { Overview } from './overview.js';
import { Queues } from './queues.js';
import { Schedules } from './schedules.js';
import { Workers } from './workers.js';

/** The view that an address asks for. */
export function ViewOf({ route: { view, id, query } }: { readonly route: Route }) {
  switch (view) {
    case 'overview':
      return <Overview />;
    case 'alerts':
      return <Alerts query={query} />;
    case 'jobs':
      return id === null ? <Jobs query={query} /> : <JobPage jobId={id} />;
    case 'dead-letters':
      return id === null ? <DeadLetters query={query} /> : <DeadLetter dlqId={id} />;
    case 'effects':
      return <Effects />;
    case 'schedules':
      return <Schedules query={query} />;
    case 'queues':
      return <Queues />;
    case 'workers':
      return <Workers />;
    case 'callbacks':
      return <Callbacks query={query} />;
    case 'audit':
      return <Audit query={query} />;
    case null:
      return (
        <>
          <Title name="Nothing here" />
          <p>
            There is no page at this address. <a href={hrefOf('overview')}>Go to the overview.</a>
          </p>
        </>
      );
  }
}
