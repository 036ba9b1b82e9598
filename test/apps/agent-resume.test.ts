import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Agent } from '../../examples/agent-server/agent.js';
import { PawlError, runStates } from '../../src/index.js';
import * as runner from '../../src/runner/index.js';
import { newFolder } from './start-app.js';

vi.mock('../../src/runner/index.js', { spy: true });

test('RST-14 a store that does not answer when the agent comes back costs no run: it goes on a moment later', async () => {
  const folder = newFolder();
  const store = `sqlite:${join(folder, 'agent.db')}`;
  const workflows = join(folder, 'workflows');
  mkdirSync(workflows);
  writeFileSync(
    join(workflows, 'hello.yaml'),
    `version: 1\nname: hello\nsteps: [{ name: s, action: cmd.run, args: { cmd: ['true'] } }]\n`,
  );
  const runs = await runStates({ store });
  onTestFinished(() => runs.close());
  // All that is left of a run whose agent ended before it had begun.
  const tracker = await runs.track({ workflowName: 'hello', runId: 'run_left_behind' });
  await tracker.flush();

  const complained = vi.spyOn(console, 'error').mockReturnValue();
  onTestFinished(() => complained.mockRestore());
  vi.mocked(runner.apply).mockRejectedValueOnce(
    new PawlError('STORE_UNAVAILABLE', { detail: 'it is being restarted' }),
  );
  const options = { store, folder: workflows, afterRestart: 'resume', leaseMs: 1_000 } as const;
  const agent = await Agent.open(options);
  onTestFinished(() => agent.close());
  await expect.poll(async () => (await agent.status('run_left_behind')).status).toBe('success');
  expect(complained).toHaveBeenCalledExactlyOnceWith(
    'Run run_left_behind is tried again:',
    expect.stringContaining('it is being restarted'),
  );
});
