import { expect, test } from 'vitest';
import { memoryRunStates } from '../../src/stores/memory/run-states.js';
import { applyText, SILENT } from './apply-text.js';

const RETRIED = `steps:
  - { name: never, action: shell.run, args: { script: 'exit 1' }, retries: 3, retry_delay: 20ms, continue_on_error: true }
  - { name: last, action: shell.run, args: { script: 'exit 2' }, retries: 3, retry_delay: 20ms, continue_on_error: true }`;

/** Hears everything late, so that what is told before a pause is still on its way after it. */
function slowStates() {
  const kept = memoryRunStates();
  const late = () => new Promise((resolve) => void setTimeout(resolve, 30));
  return {
    ...kept,
    updateRun: (...of: Parameters<typeof kept.updateRun>) => late().then(() => kept.updateRun(...of)),
  };
}

test.each([
  ['at once', memoryRunStates],
  ['late', slowStates],
])(
  'RST-7 RST-12 hosts that are tried again end as they ended, with a store that answers %s',
  async (_when, states) => {
    const logged: string[] = [];
    const log = { ...SILENT, error: (message: string) => void logged.push(message) };
    const { run, status } = await applyText(RETRIED, { runs: states(), log });
    expect(status).toBe('success');
    expect(
      run?.steps.map(({ name, hosts }) => [name, Object.values(hosts).map(({ message }) => message)]),
    ).toEqual([
      ['never', ['exit 1', 'exit 1']],
      ['last', ['exit 2', 'exit 2']],
    ]);
    expect(logged).toEqual([]);
  },
);
