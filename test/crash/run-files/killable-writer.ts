/** Changes one run as fast as it can, and says which versions it was promised. Killed from outside. */
import { utc } from '../../../src/contracts/index.js';
import { systemClock as clock } from '../../../src/client/system-clock.js';
import { PawlError } from '../../../src/errors.js';
import { fileRunStates } from '../../../src/stores/file/file-run-states.js';

const [folder = '', runId = '', name = ''] = process.argv.slice(2);
const store = await fileRunStates({ folder, clock, log: { error: () => undefined } });
for (let n = 1; ; n++) {
  const before = await store.getRun(runId);
  if (before === null) throw new Error('the run is gone');
  try {
    const hosts = { [name]: { status: 'running', output: `${name} ${n} ${'x'.repeat(20_000)}` } } as const;
    const steps = [{ name: 'one', hosts }];
    const version = await store.updateRun(
      { run_id: runId, updated_at: utc(clock.now()), message: name, steps },
      before.version,
    );
    process.stdout.write(`${version}\n`);
  } catch (error) {
    if (!(error instanceof PawlError && error.code === 'VERSION_CONFLICT')) throw error;
  }
}
