import { run } from '../../src/cli/program.js';

export type Ended = { readonly code: number; readonly out: string; readonly err: string };

export type InProcess = {
  (...args: readonly string[]): Promise<Ended>;
  /** With `--json`: what it printed. Throws with what it complained about if it did not end well. */
  json<T = Readonly<Record<string, unknown>>>(...args: readonly string[]): Promise<T>;
};

type Around = {
  readonly input?: string;
  readonly isTerminal?: boolean;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
};

/** The CLI on one store, in this process. */
export function cliOn(
  store: string,
  { input = '', isTerminal = false, cwd = '/', env = {} }: Around = {},
): InProcess {
  const pawl = async (...args: readonly string[]): Promise<Ended> => {
    let [out, err] = ['', ''];
    const console = {
      out: (text: string) => void (out += text),
      err: (text: string) => void (err += text),
      isTerminal,
      readInput: async () => input,
    };
    const code = await run([...args, '--store', store], console, [process.execPath], { env, cwd });
    return { code, out, err };
  };
  return Object.assign(pawl, {
    async json<T>(...args: readonly string[]): Promise<T> {
      const { code, out, err } = await pawl(...args, '--json');
      if (code !== 0) throw new Error(`${args.join(' ')}: ${err}`);
      return JSON.parse(out) as T;
    },
  });
}
