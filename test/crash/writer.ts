/**
 * A process that creates jobs as fast as it can and reports each one that was acknowledged, until it is killed.
 * Arguments: the database file, and a prefix for its job ids.
 */
import { prepareCommit } from '../../src/engine/prepare-commit.js';
import { decide, NO_STEPS } from '../../src/kernel/index.js';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.js';
import { aJobSpec, command } from '../../src/testkit/index.js';

const [path = '', prefix = ''] = process.argv.slice(2);
const clock = {
  now: () => Date.now(),
  after: (ms: number, run: () => void) => (setTimeout(run, ms), () => undefined),
};
const store = await sqliteStore({ path, clock });

for (let n = 0; ; n++) {
  const jobIds = Array.from({ length: 8 }, (_, i) => `${prefix}_job_${n}_${i}`);
  const items = jobIds.map((jobId) => {
    const identities = [{ tenantId: 'acme', kind: 'key' as const, value: `key-${n}-${jobId.at(-1)}` }];
    const decision = decide(null, command('create', { spec: aJobSpec({ jobId }) }), NO_STEPS);
    if (!decision.ok) throw new Error(decision.code);
    return prepareCommit(null, { jobId, commandId: jobId, events: decision.events }, { identities });
  });
  const { replies } = await store.commit(items);
  const created = jobIds.filter((_, i) => replies[i]?.ok);
  process.stdout.write(`${created.join(' ')}\n`);
}
