import { run } from '../../src/cli/program.js';
import type { CliProcess, ScratchApp } from './scratch-app.js';
import { StandIns } from './stand-ins.js';

/** Runs commands, and writes down what a person at the terminal would have seen. */
export class Recorder {
  readonly #app: ScratchApp;
  readonly #standIns: StandIns;
  readonly #page: string[] = [];
  #session: string[] = [];

  constructor(app: ScratchApp) {
    this.#app = app;
    this.#standIns = new StandIns(app.folder);
  }

  /** Prose. */
  text(...paragraphs: readonly string[]): void {
    this.#endSession();
    this.#page.push(...paragraphs);
  }

  /** A file of the application, shown and written. */
  file(name: string, content: string): void {
    this.#app.write(name, content);
    this.text(`\`${name}\`:`, `\`\`\`${name.split('.').at(-1)}\n${content.trim()}\n\`\`\``);
  }

  /** One command; its exit code is shown where it is not 0. Answers with what it printed, as it really was. */
  async run(...args: readonly string[]): Promise<string> {
    const { code, out, err } = await this.#app.run(args);
    this.#record(args, `${err}${out}${code === 0 ? '' : `(exit code ${code})\n`}`);
    return out;
  }

  /** The same, of which only the JSON is of use to the story: it is asked in this process, and nothing is written down. */
  async ask(...args: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
    let printed = '';
    const hear = (text: string): void => void (printed += text);
    const store = ['--store', `sqlite:${this.#app.path('pawl.db')}`];
    const code = await run([...args, ...store, '--json'], { out: hear, err: hear, isTerminal: false }, [
      process.execPath,
    ]);
    if (code !== 0) throw new Error(`pawl ${args.join(' ')}: ${printed}`);
    return JSON.parse(printed) as Record<string, unknown>;
  }

  /** A process that goes on until `end`; what it says when it comes up is written down. */
  async begin(args: readonly string[], isUp: RegExp): Promise<CliProcess> {
    const running = this.#app.begin(args);
    await running.until(isUp);
    return running;
  }

  async end(running: CliProcess, args: readonly string[]): Promise<void> {
    const { out, err } = await running.stop('SIGINT');
    this.#record(args, `${out}^C\n${err}`);
  }

  /** The whole page. */
  page(): string {
    this.#endSession();
    return `${this.#page.join('\n\n')}\n`;
  }

  #record(args: readonly string[], output: string): void {
    const line = `$ pawl ${args.map(quoted).join(' ')}`;
    this.#session.push(this.#standIns.replace(`${line}\n${output}`).trimEnd());
  }

  #endSession(): void {
    if (this.#session.length > 0) this.#page.push(`\`\`\`console\n${this.#session.join('\n\n')}\n\`\`\``);
    this.#session = [];
  }
}

function quoted(arg: string): string {
  return /^[\w.:/@=,+-]+$/.test(arg) ? arg : `'${arg}'`;
}
