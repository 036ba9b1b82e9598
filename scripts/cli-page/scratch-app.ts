import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export type Ended = { readonly code: number | null; readonly out: string; readonly err: string };

/** An application of its own in a folder that is removed again, and the real CLI, run there as a process. */
export class ScratchApp {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'pawl-app-')));
  readonly #main: URL;
  readonly #running = new Set<CliProcess>();

  /** `build`: where the compiled sources lie. */
  constructor(build: URL) {
    this.#main = new URL('src/cli/main.js', build);
    // Servers tell where their dashboard is, if one was built: these copies of the sources have none.
    const dashboard = new URL('src/dashboard/', build);
    mkdirSync(dashboard, { recursive: true });
    writeFileSync(new URL('index.html', dashboard), '<!doctype html>');
    // `import … from 'pawl'` finds the same copy of the sources as the CLI is made of.
    this.write('node_modules/pawl/package.json', '{"name":"pawl","type":"module","exports":"./index.js"}');
    this.write('node_modules/pawl/index.js', `export * from '${new URL('src/index.js', build).href}';`);
    this.write('package.json', '{"type":"module"}');
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  write(name: string, content: string): void {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), content);
  }

  /** Begins a command that goes on until it is told to end. */
  begin(args: readonly string[], env: Readonly<Record<string, string>> = {}): CliProcess {
    const { PAWL_STORE: _store, DATABASE_URL: _url, ...surroundings } = process.env;
    const child = spawn(process.execPath, [this.#main.pathname, ...args], {
      cwd: this.folder,
      env: { ...surroundings, ...env },
    });
    const running = new CliProcess(child);
    this.#running.add(running);
    void running.ended.then(() => this.#running.delete(running));
    return running;
  }

  /** Runs a command to its end. */
  run(args: readonly string[], { input = '' }: { input?: string } = {}): Promise<Ended> {
    const running = this.begin(args);
    running.child.stdin?.end(input);
    return running.ended;
  }

  async remove(): Promise<void> {
    for (const { child } of this.#running) child.kill('SIGKILL');
    await Promise.all([...this.#running].map(({ ended }) => ended));
    rmSync(this.folder, { recursive: true, maxRetries: 3 });
  }
}

export class CliProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  #out = '';
  #err = '';
  #look: () => void = () => undefined;

  constructor(child: ChildProcess) {
    this.child = child;
    child.stdout?.on('data', (chunk: Buffer) => {
      this.#out += chunk.toString();
      this.#look();
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#err += chunk.toString();
      this.#look();
    });
    this.ended = new Promise((resolve) => {
      child.once('close', (code) => {
        this.#look();
        resolve({ code, out: this.#out, err: this.#err });
      });
    });
  }

  get out(): string {
    return this.#out;
  }

  get err(): string {
    return this.#err;
  }

  /** Resolves once its output, of both kinds, fits; rejects if it ends before that. */
  async until(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.#out) ?? pattern.exec(this.#err);
      if (found) return found;
      if (this.child.exitCode !== null || this.child.signalCode !== null) {
        throw new Error(`ended before it said ${pattern}: ${this.#out}${this.#err}`);
      }
      await new Promise<void>((resolve) => {
        this.#look = resolve;
      });
    }
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Ended> {
    this.child.kill(signal);
    return this.ended;
  }
}
