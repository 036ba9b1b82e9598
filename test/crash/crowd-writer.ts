/** A writer that is killed in the middle of its work, whose new jobs are written by a thread. See src/cli/crash-test.ts. */
import { systemClock as clock } from '../../src/client/system-clock.js';
import { STORE_VARIABLE } from '../../src/cli/crash-test.js';
import { parseStoreUrl } from '../../src/client/open-store.js';
import { CROWDS } from '../../src/stores/sqlite/crowds.js';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.js';
import { workUntilKilled } from '../../src/testkit/conformance/index.js';

const prefix = process.argv.at(-1) ?? '';
const { path } = parseStoreUrl(process.env[STORE_VARIABLE] ?? '');
const store = await sqliteStore({ path, clock, crowds: { ...CROWDS, after: 0, few: 1 } });
await workUntilKilled(store, {
  prefix,
  report: (acknowledged) => process.stdout.write(`${JSON.stringify(acknowledged)}\n`),
});
