import { setTimeout } from 'node:timers/promises';
import { fatal, task, type HandlerContext, type RunStates, type Task } from '../../src/index.js';

export type Release = { readonly name: string };
export type Approval = { readonly approved: boolean };

type Work = { readonly step: string; readonly hosts: readonly string[]; readonly lines: readonly string[] };

const BUILD: Work = { step: 'build', hosts: ['builder'], lines: ['compiling', 'linking', 'packing'] };
const TEST: Work = {
  step: 'test',
  hosts: ['linux', 'macos', 'windows'],
  lines: ['12 tests', '57 tests', '103 tests, all passed'],
};
const PUBLISH: Work = { step: 'publish', hosts: ['registry'], lines: ['uploading', 'visible to all'] };

/** What runs are listed under. */
export const workflowNameOf = ({ name }: Release): string => `release ${name}`;

/**
 * A release: it is built, tested on three machines, approved by somebody, and published. Only for show, so the work is a few lines
 * of output.
 *
 * What is done is told inside of steps, so that a replay does not tell it again; and it is saved before the step ends, so that
 * whatever the job knows, the state of the run shows.
 */
export function releaseTask(runs: RunStates, { tickMs }: { tickMs: number }): Task<Release, null> {
  return task(
    { name: 'release', retry: { maxRetries: 0 }, signals: ['approval'] },
    async ({ input, step, job, signal }: HandlerContext<Release>) => {
      // Killed between the end of the run and that of its job: there is nothing left to do.
      if ((await runs.find(job.id))?.finished_at) return null;
      const tracker = await runs.track({ runId: job.id, workflowName: workflowNameOf(input), resume: true });

      const carryOut = ({ step: name, hosts, lines }: Work): Promise<unknown> =>
        step.run(name, async () => {
          tracker.stepStart({ step: name });
          await Promise.all(
            hosts.map(async (host) => {
              tracker.hostStart({ step: name, host });
              for (const line of lines) {
                await setTimeout(tickMs, undefined, { signal });
                tracker.output({ step: name, host, text: `${line}\n` });
              }
              tracker.hostResult({ step: name, host, status: 'success' });
            }),
          );
          tracker.stepFinish({ step: name, status: 'success' });
          await tracker.flush();
        });

      await carryOut(BUILD);
      await carryOut(TEST);
      await step.run('ask', async () => {
        tracker.stepStart({ step: 'approval', message: 'waits for somebody to approve it' });
        await tracker.flush();
      });
      const { approved } = await step.waitFor<Approval>('approval', { kind: 'approval', reason: input.name });
      if (!approved) throw fatal(new Error(`${input.name} was declined`));
      await step.run('approved', async () => {
        tracker.stepFinish({ step: 'approval', status: 'success', message: 'approved' });
        await tracker.flush();
      });
      await carryOut(PUBLISH);
      await tracker.finish({ status: 'success', message: `${input.name} is published` });
      return null;
    },
  );
}
