import type { Clock } from '../ports/clock.js';
import type { Recorder } from '../ports/recorder.js';
import type { Console } from './console.js';
import { plainText } from './plain-text.js';
import { RunBoard } from './run-board.js';

/** Often enough to look alive; more would only flicker. */
const DRAW_MS = 100;
const WIDTH = 120;

export type Watching = { readonly recorder: Recorder; readonly stop: () => void };

/** Shows a run as it goes: a board that is drawn anew on a terminal, else a line for everything that ends. */
export function watchRun(
  console: Console,
  { totals, clock }: { totals: ReadonlyMap<string, number>; clock: Pick<Clock, 'after'> },
): Watching {
  return console.isTerminal ? board(console, { totals, clock }) : plainLines(console);
}

function board(console: Console, { totals, clock }: Parameters<typeof watchRun>[1]): Watching {
  let drawn = 0;
  let cancel: (() => void) | null = null;
  const draw = (): void => {
    cancel = null;
    const lines = recorder.lines(WIDTH);
    // Up to the first line of the last drawing, then whatever was there is cleared.
    const up = drawn > 0 ? `\u001b[${drawn}A` : '';
    console.err(`${up}\r\u001b[J${lines.map((line) => `${line}\n`).join('')}`);
    drawn = lines.length;
  };
  const recorder = new RunBoard(totals, () => {
    cancel ??= clock.after(DRAW_MS, draw);
  });
  const stop = (): void => {
    cancel?.();
    draw();
  };
  return { recorder, stop };
}

function plainLines({ err }: Console): Watching {
  const say = (line: string): void => err(`${plainText(line)}\n`);
  const about = (message: string | null | undefined): string => (message ? `  ${message}` : '');
  const recorder: Recorder = {
    stepStart: ({ step, message }) => say(`… ${step}${about(message)}`),
    progress: ({ step, host, message }) => say(`  ${step}${host === null ? '' : ` on ${host}`}: ${message}`),
    hostResult: ({ step, host, status, message }) => say(`  ${step} on ${host}: ${status}${about(message)}`),
    stepFinish: ({ step, status, message }) =>
      say(`${status === 'failed' ? '✗' : '✓'} ${step}: ${status}${about(message)}`),
  };
  return { recorder, stop: () => undefined };
}
