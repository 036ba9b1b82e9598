import { writeFileSync } from 'node:fs';
import type { Order } from './child-program.js';
import type { Armed } from './points.js';
import { linesOf } from './witness.js';
import { WorkerProcess, type Program } from './worker-process.js';

export type Worker = {
  readonly process: WorkerProcess<Order>;
  readonly trace: () => string[];
  /** Its writes that came too late, and why each was not taken. */
  readonly refused: () => string[];
  /** Lets a body go on that is held. */
  readonly release: () => void;
};

/** Where a process is to die or to stand still, or the body in which it is held. */
export type Cut = {
  readonly at?: string | undefined;
  readonly by?: 'SIGKILL' | 'SIGSTOP' | undefined;
  readonly hold?: 'quote' | 'charge' | undefined;
};

/** A process, and where it may be cut off. */
export type Prepared = { readonly worker: Worker; readonly armed: Armed };

const REFUSED = / is (REV_TAKEN|ATTEMPT_GONE) \d+$/;

/** A process of a trial, not yet told what to do. `trace`: the file that it writes its points to. */
export function prepare(program: Program, trace: string, { at, by, hold }: Cut): Prepared {
  const until = `${trace}.release`;
  const worker: Worker = {
    process: new WorkerProcess<Order>(program),
    trace: () => linesOf(trace),
    refused: () => linesOf(trace).flatMap((line) => REFUSED.exec(line)?.[1] ?? []),
    release: () => writeFileSync(until, ''),
  };
  const armed: Armed = {
    at: at ?? null,
    by: by ?? 'SIGKILL',
    trace,
    ...(hold === undefined ? {} : { hold: { at: hold, until } }),
  };
  return { worker, armed };
}
