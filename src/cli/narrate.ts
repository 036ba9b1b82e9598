import type { Hooks } from '../worker/hooks.js';
import { oneLine, type Console } from './console.js';

const MARKS: Readonly<Record<string, string>> = { succeeded: '✓', failed: '✗', cancelled: '✗', waiting: '…' };

/** The application's hooks, and a line on standard error for the end of each attempt. */
export function narrating({ err }: Pick<Console, 'err'>, hooks: Hooks): Hooks {
  return {
    ...hooks,
    attemptStarted: (job) => {
      err(`  ▸ ${oneLine(job.task)} ${job.id}\n`);
      hooks.attemptStarted?.(job);
    },
    attemptEnded: (job, outcome) => {
      const { status, failure, durationMs } = outcome;
      const why = failure === null ? '' : ` ${failure.code}: ${failure.message}`;
      const mark = MARKS[status] ?? '↻';
      err(
        `  ${mark} ${oneLine(`${job.task} ${job.id} ${status} after ${Math.round(durationMs)} ms${why}`)}\n`,
      );
      hooks.attemptEnded?.(job, outcome);
    },
  };
}
