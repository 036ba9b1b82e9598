import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { StringDecoder } from 'node:string_decoder';
import type { Clock } from '../index.js';
import { onceSilent } from './once-silent.js';

export type Command = {
  /** The program and its arguments, one by one: no shell reads them. */
  readonly argv: readonly string[];
  readonly cwd: string | null;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string | null;
  readonly timeoutMs: number;
};

/** `exit` null: it was ended by a signal, or never began. */
export type Ended = {
  readonly exit: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  /** Why it never began. */
  readonly failure: string | null;
};

export type Surroundings = {
  readonly clock: Clock;
  /** Fires when nobody waits for it any more. */
  readonly signal: AbortSignal;
  readonly onStdout: (text: string) => void;
  readonly onStderr: (text: string) => void;
};

/** How long a process gets to end by itself before it is made to. */
const GRACE_MS = 5_000;

/**
 * Runs a command on this machine, in a group of its own, so that whatever it started can be ended with it. What it leaves running
 * when it ends by itself is not waited for, though it may hold the output: from then on nobody reads that. Answers how it ended;
 * throws only if it was given up before, since then nobody can say how far it came.
 */
export function runCommand(command: Command, around: Surroundings): Promise<Ended> {
  const { clock, signal, onStdout, onStderr } = around;
  const [program = '', ...args] = command.argv;
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const neverBegan = (error: unknown): void =>
      resolve({ exit: null, signal: null, timedOut: false, failure: whyNot(program, error) });
    let child: ChildProcessWithoutNullStreams;
    try {
      child = spawn(program, args, {
        cwd: command.cwd ?? undefined,
        env: { ...process.env, ...command.env },
        stdio: ['pipe', 'pipe', 'pipe'],
        detached: true,
      });
    } catch (error) {
      // Most reasons are thrown here; `error` tells only of a few.
      return neverBegan(error);
    }
    child.once('error', neverBegan);
    const { pid } = child;
    // It never began: `error` follows, and there may not even be streams.
    if (pid === undefined) return;
    let timedOut = false;
    let isEnding = false;
    const kill = (how: NodeJS.Signals): void => {
      try {
        process.kill(-pid, how);
      } catch {
        // It has ended meanwhile.
      }
    };
    const { stdout, stderr } = child;
    const timers: (() => void)[] = [];
    const stopListening = (): void => {
      timers.push(
        onceSilent(clock, [stdout, stderr], () => {
          stdout.destroy();
          stderr.destroy();
        }),
      );
    };
    const end = (): void => {
      isEnding = true;
      kill('SIGTERM');
      timers.push(
        clock.after(GRACE_MS, () => {
          kill('SIGKILL');
          stopListening();
        }),
      );
    };
    timers.push(
      clock.after(command.timeoutMs, () => {
        timedOut = true;
        end();
      }),
    );
    signal.addEventListener('abort', end, { once: true });
    const settled = (): void => {
      for (const cancel of timers.splice(0)) cancel();
      signal.removeEventListener('abort', end);
    };
    const rests = [read(stdout, onStdout), read(stderr, onStderr)];
    // A program that does not read what it is given is none the worse for it.
    child.stdin.on('error', () => undefined);
    child.stdin.end(command.stdin ?? '');
    child.once('exit', () => {
      // What it started is being ended too, and has its time for that.
      if (isEnding) return;
      // How it ended is known: it cannot be too late any more, nor be given up.
      settled();
      stopListening();
    });
    // Comes after `exit`, once nobody writes any more, or nobody reads.
    child.once('close', (exit, killedBy) => {
      settled();
      for (const tell of rests) tell();
      if (isEnding && signal.aborted)
        reject(new Error('the run was stopped while the command was under way'));
      else resolve({ exit, signal: killedBy, timedOut, failure: null });
    });
  });
}

const REASONS: Readonly<Record<string, string>> = {
  ENOTDIR: 'the folder to run it in, or one on the way to the program, is no folder',
  E2BIG:
    'its arguments and environment are longer than this system takes: a script may be a file, with script.shell',
};

/** Why a command never began. */
function whyNot(program: string, error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return `there is no program '${program}', or no folder to run it in`;
  return `it could not be begun: ${REASONS[code] ?? message}`;
}

/** Pieces of bytes as text, never half a character. The answer tells what is left when no more will come. */
function read(stream: NodeJS.ReadableStream, onText: (text: string) => void): () => void {
  const decoder = new StringDecoder('utf8');
  stream.on('data', (bytes: Buffer) => onText(decoder.write(bytes)));
  return () => onText(decoder.end());
}
