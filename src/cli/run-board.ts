import type { Recorder } from '../ports/recorder.js';
import type { StepState } from '../contracts/index.js';
import { plainText } from './plain-text.js';

type HostLine = { status: StepState; message: string };
type StepLine = {
  status: StepState;
  message: string;
  readonly hosts: Map<string, HostLine>;
  readonly total: number;
};

const MARKS: Readonly<Record<StepState, string>> = {
  running: '…',
  success: '✓',
  failed: '✗',
  interrupted: '!',
  skipped: '-',
};

const BAR = 20;
const MOST_FAILURES = 10;
const MOST_RUNNING = 5;

/** What a run has come to, as lines for a terminal: each step with its hosts counted, and failures first. */
export class RunBoard implements Recorder {
  readonly #steps = new Map<string, StepLine>();
  readonly #totals: ReadonlyMap<string, number>;
  readonly #onChange: () => void;

  /** `totals`: on how many hosts each step is to run. */
  constructor(totals: ReadonlyMap<string, number>, onChange: () => void) {
    this.#totals = totals;
    this.#onChange = onChange;
  }

  stepStart({ step, message = null }: { step: string; message?: string | null }): void {
    Object.assign(this.#step(step), { status: 'running', message: message ?? '' });
    this.#onChange();
  }

  hostStart({ step, host }: { step: string; host: string }): void {
    this.#step(step).hosts.set(host, { status: 'running', message: '' });
    this.#onChange();
  }

  /** The last line that a host wrote shows that it is alive. */
  output({ step, host, text }: { step: string; host: string; text: string }): void {
    const line =
      text
        .trimEnd()
        .split(/[\r\n]/)
        .at(-1) ?? '';
    if (line !== '') this.progress({ step, host, message: line });
  }

  progress({ step, host, message }: { step: string; host: string | null; message: string }): void {
    const of = host === null ? this.#step(step) : this.#step(step).hosts.get(host);
    if (of) of.message = plainText(message);
    this.#onChange();
  }

  hostResult({
    step,
    host,
    status,
    message,
  }: {
    step: string;
    host: string;
    status: StepState;
    message?: string | null;
  }): void {
    this.#step(step).hosts.set(host, { status, message: plainText(message ?? '') });
    this.#onChange();
  }

  stepFinish({ step, status, message }: { step: string; status: StepState; message?: string | null }): void {
    Object.assign(this.#step(step), { status, message: plainText(message ?? '') });
    this.#onChange();
  }

  lines(width: number): string[] {
    return [...this.#steps]
      .flatMap(([name, step]) => [stepLine(name, step), ...hostLines(step)])
      .map((line) => line.slice(0, width));
  }

  #step(name: string): StepLine {
    let step = this.#steps.get(name);
    if (step === undefined) {
      step = { status: 'running', message: '', hosts: new Map(), total: this.#totals.get(name) ?? 0 };
      this.#steps.set(name, step);
    }
    return step;
  }
}

function stepLine(name: string, { status, message, hosts, total }: StepLine): string {
  const done = [...hosts.values()].filter((host) => host.status !== 'running').length;
  const all = Math.max(total, hosts.size);
  const full = all === 0 ? 0 : Math.round((BAR * done) / all);
  const bar = status === 'running' && all > 0 ? ` [${'#'.repeat(full)}${'.'.repeat(BAR - full)}]` : '';
  const count = all > 0 ? ` ${done}/${all}` : '';
  return `${MARKS[status]} ${plainText(name)}${bar}${count}${message === '' ? '' : `  ${message}`}`;
}

/** Failures stay; of those under way a few are shown, as long as the step runs. */
function hostLines({ status, hosts }: StepLine): string[] {
  const of = (wanted: StepState, most: number): string[] => {
    const those = [...hosts].filter(([, host]) => host.status === wanted);
    const shown = those
      .slice(0, most)
      .map(([name, { message }]) => `    ${MARKS[wanted]} ${name}  ${message}`);
    return those.length > most ? [...shown, `    ${MARKS[wanted]} and ${those.length - most} more`] : shown;
  };
  return [...of('failed', MOST_FAILURES), ...(status === 'running' ? of('running', MOST_RUNNING) : [])];
}
