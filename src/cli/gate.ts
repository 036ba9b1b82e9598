import { openStore } from '../client/open-store.js';
import { systemClock } from '../client/system-clock.js';
import { replayGate } from '../testkit/replay-gate.js';
import { print, printable, type Console } from './console.js';
import { CHECK_FAILED } from './exit-code.js';

/** Runs RP-001 … RP-005 on a store, and shows what each left behind. */
export async function gate(
  console: Console,
  { store: url, json }: { store: string; json: boolean },
): Promise<number> {
  const store = await openStore(url, { clock: systemClock });
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
