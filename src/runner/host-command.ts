import { runCommand, type Command, type Ended, type Surroundings } from './run-command.js';
import { MarkedOutput, neverBegan, remoteScript, sshArgv } from './ssh.js';
import type { Host } from './workflow.js';

/** What is known of a command that has ended, small enough to be kept in the log of the job. */
export type Outcome = {
  readonly ok: boolean;
  /** Whether anything is different than before. */
  readonly changed: boolean;
  readonly exit: number | null;
  /** What went wrong; null if nothing did. */
  readonly message: string | null;
  /** The end of what it wrote on standard output. */
  readonly stdout: string;
};

/** What later steps may make variables of. Longer outputs are for people, and in the state of the run. */
const MOST_STDOUT = 16_000;
const MOST_STDERR = 4_000;

/** Runs a command on a host. Throws if nobody can say whether it has run: the connection was lost in the middle of it. */
export async function hostCommand(
  host: Host,
  command: Command,
  { clock, signal, onOutput }: Pick<Surroundings, 'clock' | 'signal'> & { onOutput: (text: string) => void },
): Promise<Outcome> {
  let stdout = '';
  let stderr = '';
  const onStdout = (text: string): void => {
    stdout = (stdout + text).slice(-MOST_STDOUT);
    onOutput(text);
  };
  const onStderr = (text: string): void => {
    stderr = (stderr + text).slice(-MOST_STDERR);
    onOutput(text);
  };
  if (host.connection === 'local') {
    const ended = await runCommand(command, { clock, signal, onStdout, onStderr });
    return outcomeOf(ended, { stdout, stderr, timeoutMs: command.timeoutMs });
  }
  const marked = new MarkedOutput(onStdout);
  const argv = sshArgv(host, remoteScript(command));
  const ended = await runCommand(
    { ...command, argv, cwd: null, env: {} },
    { clock, signal, onStdout: (text) => marked.write(text), onStderr },
  );
  const about = { stdout, stderr, timeoutMs: command.timeoutMs };
  if (marked.exit !== null) return outcomeOf({ ...ended, exit: marked.exit, timedOut: false }, about);
  if (ended.failure !== null) return outcomeOf(ended, about);
  if (ended.timedOut) {
    const { message } = outcomeOf(ended, about);
    return {
      ok: false,
      changed: true,
      exit: null,
      stdout,
      message: `${message}; it may still run on the host`,
    };
  }
  if (!marked.hasBegun && neverBegan(stderr)) {
    return { ok: false, changed: false, exit: null, stdout, message: `unreachable: ${lastLine(stderr)}` };
  }
  throw new Error(
    `the connection to '${host.name}' was lost: ${lastLine(stderr) || `ssh ended with ${ended.exit ?? ended.signal}`}`,
  );
}

function outcomeOf(
  { exit, signal, timedOut, failure }: Ended,
  { stdout, stderr, timeoutMs }: { stdout: string; stderr: string; timeoutMs: number },
): Outcome {
  const ok = exit === 0 && !timedOut;
  const said = lastLine(stderr) || lastLine(stdout);
  const how = timedOut
    ? `timed out after ${timeoutMs} ms`
    : (failure ?? (exit === null ? `ended by ${signal}` : `exit ${exit}`));
  const message = ok ? null : said === '' || failure !== null ? how : `${how}: ${said}`;
  return { ok, changed: failure === null, exit, message, stdout };
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1)?.trim().slice(0, 500) ?? '';
}
