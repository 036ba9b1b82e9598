import { openApi } from './open-api.js';
import { route, type Route } from './route.js';
import { callbackRoutes } from './routes/callbacks.js';
import { deadLetterRoutes } from './routes/dead-letters.js';
import { guaranteeRoutes } from './routes/guarantees.js';
import { internalRoutes } from './routes/internal.js';
import { jobDetailRoutes } from './routes/job-details.js';
import { jobRoutes } from './routes/jobs.js';
import { keyRoutes } from './routes/keys.js';
import { operationRoutes } from './routes/operations.js';
import { overviewRoutes } from './routes/overview.js';
import { runRoutes } from './routes/runs.js';
import { scheduleRoutes } from './routes/schedules.js';
import { sessionRoutes } from './routes/session.js';
import { streamRoutes } from './routes/streams.js';
import { systemRoutes } from './routes/system.js';
import { taskRunRoutes } from './routes/task-runs.js';
import { taskRoutes } from './routes/tasks.js';
import { workerRoutes } from './routes/worker.js';
import { workerReadRoutes } from './routes/worker-reads.js';
import { VERSION } from './version.js';

const described: readonly Route[] = [
  ...jobRoutes,
  ...jobDetailRoutes,
  ...taskRoutes,
  ...taskRunRoutes,
  ...runRoutes,
  ...guaranteeRoutes,
  ...deadLetterRoutes,
  ...scheduleRoutes,
  ...operationRoutes,
  ...overviewRoutes,
  ...callbackRoutes,
  ...keyRoutes,
  ...sessionRoutes,
  ...internalRoutes,
  ...streamRoutes,
  ...workerRoutes,
  ...workerReadRoutes,
  ...systemRoutes,
];

/** Every route. Routing, /openapi.json, the tests of who may do what, and the fuzzer are all made from this list. */
export const ROUTES: readonly Route[] = [
  ...described,
  route({
    method: 'GET',
    path: '/openapi.json',
    access: 'public',
    summary: 'This document.',
    answers: { 200: 'application/json' },
    handle: () => Promise.resolve(document()),
  }),
];

let written: string | null = null;

function document(): Response {
  written ??= JSON.stringify(openApi(ROUTES, { version: VERSION }));
  return new Response(written, { headers: { 'content-type': 'application/json; charset=utf-8' } });
}
