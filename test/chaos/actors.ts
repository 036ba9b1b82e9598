import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Moment } from './outside.js';

export type ActorOptions = {
  readonly name: string;
  /** The compiled command line, and what it is told. */
  readonly main: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
};

/** A process that is killed, frozen and started again: a worker, or the server. What it says goes to a file. */
export class Actor {
  readonly name: string;
  readonly #options: ActorOptions;
  #child: ChildProcess | null = null;
  #ended: Promise<number | null> = Promise.resolve(null);
  #frozen = false;
  /** How much of its file was there before this life of it. */
  #saidBefore = 0;
  /** Ended although nobody had asked for it. */
  readonly surprises: { readonly code: number | null; readonly what: string }[] = [];
  /** Its lives that are over, however they ended. */
  readonly ends: Moment[] = [];
  #asked = false;

  constructor(options: ActorOptions) {
    this.name = options.name;
    this.#options = options;
  }

  get isFrozen(): boolean {
    return this.#frozen;
  }

  get isUp(): boolean {
    return this.#child !== null;
  }

  get logFile(): string {
    return join(this.#options.folder, `${this.name}.log`);
  }

  start(): void {
    if (this.#child !== null) return;
    const { main, args, folder, env } = this.#options;
    const said = openSync(this.logFile, 'a');
    // What is killed in our place would leave it behind: it ends with its input.
    const child = spawn(process.execPath, [main, ...args, '--until-input-ends'], {
      cwd: folder,
      env: { ...surroundings(), ...env },
      stdio: ['pipe', said, said],
    });
    closeSync(said);
    this.#saidBefore = statSync(this.logFile).size;
    this.#child = child;
    this.#asked = false;
    this.#frozen = false;
    this.#ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        if (!this.#asked)
          this.surprises.push({ code, what: `${this.name} ended by itself (${signal ?? code})` });
        if (this.#child === child) this.#child = null;
        this.ends.push({ pid: child.pid ?? 0, atNs: process.hrtime.bigint() });
        resolve(code);
      });
    });
  }

  /** Until it has said that it is up. Before that it does not know yet how to end in peace. */
  async #isReady(withinMs: number): Promise<void> {
    const until = performance.now() + withinMs;
    while (this.isUp && statSync(this.logFile).size === this.#saidBefore && performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async kill(): Promise<void> {
    this.#asked = true;
    this.#child?.kill('SIGKILL');
    await this.#ended;
  }

  freeze(): void {
    this.#frozen = this.#child?.kill('SIGSTOP') ?? false;
  }

  thaw(): void {
    this.#frozen = false;
    this.#child?.kill('SIGCONT');
  }

  /** In good order. Its exit code; null if it had to be killed after all. */
  async stop(withinMs: number): Promise<number | null> {
    if (this.#child === null) return 0;
    this.thaw();
    await this.#isReady(withinMs);
    this.#asked = true;
    this.#child?.kill('SIGTERM');
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(() => resolve(null), withinMs);
    });
    const code = await Promise.race([this.#ended, late]);
    clearTimeout(timer);
    if (this.isUp) await this.kill();
    return code;
  }
}

/** Without what would lead it to another store. */
function surroundings(): NodeJS.ProcessEnv {
  const { PAWL_STORE: _store, DATABASE_URL: _url, PAWL_CONFIG: _config, ...others } = process.env;
  return others;
}
