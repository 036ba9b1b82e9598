import { execFileSync, fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../source-files.js';
import type { Order } from './killable-worker.js';

let program = '';

/** Compiles what these processes run, for one file of tests: others may do the same at the same time. */
export function compileWorker(name: string): void {
  const outDir = join(ROOT, '.build', `crash-${name}`);
  const project = join(ROOT, 'test/crash/tsconfig.run.json');
  execFileSync('npx', ['tsc', '-p', project, '--outDir', outDir], { cwd: ROOT, stdio: 'ignore' });
  program = join(outDir, 'test/crash/killable-worker.js');
}

/** A worker in a process of its own. */
export class WorkerProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  #said = '';

  constructor() {
    // Elsewhere, since a process that aborts may leave a core file where it stands.
    this.#child = fork(program, [], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'], cwd: tmpdir() });
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
    this.#child.send(order, () => undefined);
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

/** Far more than anything here takes on a busy machine. */
const GIVE_UP_AFTER_MS = 60_000;
const LOOK_AGAIN_MS = 20;

/** Looks again and again until it finds something. */
export async function eventually<T>(look: () => Promise<T | null> | T | null, what: string): Promise<T> {
  const giveUpAt = Date.now() + GIVE_UP_AFTER_MS;
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    if (Date.now() > giveUpAt) throw new Error(`waited in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
}
