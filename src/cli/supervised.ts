import { spawn, type ChildProcess } from 'node:child_process';
import type { Shell } from './shell.js';

/** Another process of this program, which is replaced by a new one when asked to. One at a time, always. */
export class Supervised {
  readonly #shell: Shell;
  readonly #args: readonly string[];
  readonly #env: Readonly<Record<string, string>>;
  #child: ChildProcess | null = null;
  #ended: Promise<void> = Promise.resolve();
  #restarting: Promise<void> | null = null;
  #stopped = false;

  constructor(shell: Shell, args: readonly string[], env: Readonly<Record<string, string>>) {
    this.#shell = shell;
    this.#args = args;
    this.#env = env;
  }

  start(): void {
    const { self, cwd, env, console } = this.#shell;
    const [executable, ...own] = self;
    const child = spawn(executable, [...own, ...this.#args], {
      cwd,
      env: { ...env, ...this.#env },
      // A Ctrl-C reaches the whole group of processes: apart from it, this one decides who is told what.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.on('data', (chunk: Buffer) => console.out(chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => console.err(chunk.toString()));
    this.#child = child;
    this.#ended = new Promise((resolve) => {
      child.once('close', (code) => {
        if (this.#child === child) {
          this.#child = null;
          if (!this.#stopped && code !== 0) console.err('It ended by itself; waiting for a change.\n');
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
