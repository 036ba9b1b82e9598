import { spawn, type ChildProcess } from 'node:child_process';
import type { Shell } from './shell.js';

export type Ended = {
  readonly code: number | null;
  /** Whether it had said anything: one that never came up ends without a word on standard output. */
  readonly cameUp: boolean;
};

/** Another process of this program, which is replaced by a new one when asked to. One at a time, always. */
export class Supervised {
  readonly #shell: Shell;
  readonly #args: readonly string[];
  readonly #onEnded: (how: Ended) => void;
  #child: ChildProcess | null = null;
  #ended: Promise<void> = Promise.resolve();
  #restarting: Promise<void> | null = null;
  #stopped = false;

  /** `onEnded`: told when the process has ended without having been asked to. */
  constructor(shell: Shell, args: readonly string[], onEnded: (how: Ended) => void) {
    this.#shell = shell;
    this.#args = args;
    this.#onEnded = onEnded;
  }

  start(): void {
    const { self, cwd, env, console } = this.#shell;
    const [executable, ...own] = self;
    const child = spawn(executable, [...own, ...this.#args, '--until-input-ends'], {
      cwd,
      env: { ...env },
      // A Ctrl-C reaches the whole group of processes: apart from it, this one decides who is told what.
      detached: true,
      stdio: 'pipe',
    });
    let cameUp = false;
    child.stdout.on('data', (chunk: Buffer) => {
      cameUp = true;
      console.out(chunk.toString());
    });
    child.stderr.on('data', (chunk: Buffer) => console.err(chunk.toString()));
    this.#child = child;
    this.#ended = new Promise((resolve) => {
      child.once('close', (code) => {
        const wasAsked = this.#child !== child;
        if (!wasAsked) {
          this.#child = null;
          this.#onEnded({ code, cameUp });
        }
        resolve();
      });
    });
  }

  /** Changes that come while it is being replaced are in the one that follows. */
  restart(): Promise<void> {
    this.#restarting ??= this.#replace().finally(() => {
      this.#restarting = null;
    });
    return this.#restarting;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#restarting;
    await this.#end();
  }

  async #replace(): Promise<void> {
    await this.#end();
    if (!this.#stopped) this.start();
  }

  async #end(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    child?.kill('SIGTERM');
    await this.#ended;
  }
}
