import { openStore } from '../../client/open-store.js';
import { systemClock } from '../../client/system-clock.js';
import { replayGate } from '../../testkit/replay-gate.js';
import { storeOf } from '../config/settings.js';
import { print, printable } from '../console.js';
import { CHECK_FAILED } from '../exit-code.js';
import { command, examples, type Flags, type Register, type Shell } from '../shell.js';

export const registerGate: Register = (program, shell) => {
  const gate = command(
    program,
    'gate',
    'Run the replay cases RP-001 to RP-005 on a store; fails if one of them does.',
  ).action((options: Flags) => shell.ends(run(shell, options)));
  examples(gate, 'pawl gate', 'pawl gate --store postgres://localhost/app --json');
};

/** Runs RP-001 … RP-005 on a store, and shows what each left behind. */
async function run(shell: Shell, options: Flags): Promise<number> {
  const { console } = shell;
  const { json = false } = options;
  const store = await openStore(await storeOf(options, shell), { clock: systemClock });
  try {
    const cases = await replayGate(store, (done) => {
      if (json) return;
      const { case: name, passed, trace_id, job_id, retry_count, status_transition, dlq_id, problem } = done;
      const lines = [
        `${passed ? 'ok  ' : 'FAIL'} ${name}  ${status_transition}`,
        `       job_id ${job_id}  trace_id ${trace_id}  retry_count ${retry_count}`,
        ...(dlq_id === null ? [] : [`       dlq_id ${dlq_id}`]),
        ...(problem === null ? [] : [`       ${problem}`]),
      ];
      console.out(`${printable(lines.join('\n'))}\n`);
    });
    const failed = cases.filter(({ passed }) => !passed).length;
    const text =
      failed === 0 ? `All ${cases.length} cases pass.` : `${failed} of ${cases.length} cases fail.`;
    print(console, { json, data: { passed: failed === 0, cases }, text });
    return failed === 0 ? 0 : CHECK_FAILED;
  } finally {
    await store.close();
  }
}
