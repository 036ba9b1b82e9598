import type { Console } from './console.js';

export type Progress = {
  readonly tell: (count: number) => void;
  /** Before anything else is written. */
  readonly clear: () => void;
};

/** Shows people how far long work has come, on the standard error. Programs that read JSON are not shown any. */
export function showProgress(console: Console, { json, what }: { json: boolean; what: string }): Progress {
  if (!console.isTerminal || json) return { tell: () => undefined, clear: () => undefined };
  let shown = false;
  return {
    tell(count) {
      shown = true;
      console.err(`\r${count} ${what}`);
    },
    clear() {
      if (shown) console.err('\r\u001b[K');
      shown = false;
    },
  };
}
