/** What tests of jobs need, ours and yours: samples, `given().when().then…`, a clock and chance under control. */
export { advanceUntil, type AdvanceOptions } from './advance-until.js';
export * from './cluster.js';
export * from './conformance/index.js';
export * from './crash-at-every-event.js';
export * from './failure-injection.js';
export * from './fake-clock.js';
export * from './given.js';
export * from './injected-store.js';
export * from './mortal-store.js';
export * from './pasts.js';
export * from './prng.js';
export * from './random-history.js';
export * from './replay-gate.js';
export * from './run-state-conformance.js';
export * from './sample-commands.js';
export * from './sample-events.js';
export * from './sample-job.js';
export * from './test-app.js';
