import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';

/** What to run: an executable and its arguments. */
export type Program = readonly [string, ...string[]];

/** A process that does as it is told, until it is killed. */
export class WorkerProcess<Order> {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  #said = '';

  constructor([executable, ...args]: Program) {
    // Elsewhere, since a process that aborts may leave a core file where it stands.
    this.#child = spawn(executable, args, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'], cwd: tmpdir() });
    this.#exited = once(this.#child, 'exit');
    this.#child.stderr?.on('data', (text: Buffer) => (this.#said += text.toString()));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** What it wrote for people. */
  get said(): string {
    return this.#said;
  }

  get isGone(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  get signalCode(): NodeJS.Signals | null {
    return this.#child.signalCode;
  }

  /** Until it has obeyed, or is gone. */
  async order(order: Order): Promise<void> {
    const done = new Promise((resolve) => this.#child.once('message', resolve));
    this.#child.send(order as object, () => undefined);
    await Promise.race([done, this.#exited]);
  }

  signal(signal: NodeJS.Signals): void {
    process.kill(this.pid, signal);
  }

  async kill(): Promise<void> {
    if (!this.isGone) this.#child.kill('SIGKILL');
    await this.#exited;
  }
}
