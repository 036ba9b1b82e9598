import type { Command } from './run-command.js';
import type { Host } from './workflow.js';

/** Written before a remote command begins, and with its exit code after it has ended. */
const MARK = '\u001e';

/** What the system's `ssh` is called with. Strict about host keys, and asks nobody for anything. */
export function sshArgv(host: Host, script: string): string[] {
  const option = (name: string, value: string): string[] => ['-o', `${name}=${value}`];
  return [
    'ssh',
    '-T',
    '-a',
    '-x',
    ...option('BatchMode', 'yes'),
    ...option('StrictHostKeyChecking', 'yes'),
    ...option('ConnectTimeout', '10'),
    ...option('ServerAliveInterval', '15'),
    ...option('ServerAliveCountMax', '3'),
    ...(host.knownHostsFile === null ? [] : option('UserKnownHostsFile', host.knownHostsFile)),
    ...(host.identityFile === null ? [] : ['-i', host.identityFile, ...option('IdentitiesOnly', 'yes')]),
    ...(host.port === null ? [] : ['-p', String(host.port)]),
    ...(host.user === null ? [] : ['-l', host.user]),
    '--',
    host.address,
    `exec /bin/sh -c ${quoted(script)}`,
  ];
}

/**
 * The command as a script for the other side. Every word is quoted, so that no shell on the way sees more in it than a word. It
 * says when it begins and how it ended: an exit code of `ssh` alone could as well be its own.
 */
export function remoteScript({ argv, cwd, env }: Pick<Command, 'argv' | 'cwd' | 'env'>): string {
  const exports = Object.entries(env).map(([name, value]) => `export ${name}=${quoted(value)}; `);
  const enter = cwd === null ? '' : `cd -- ${quoted(cwd)} && `;
  const command = argv.map(quoted).join(' ');
  return `printf '\\036'; ${exports.join('')}${enter}( exec ${command} ); printf '\\036%d' "$?"`;
}

export function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Takes the marks out of what comes from the other side. */
export class MarkedOutput {
  readonly #onText: (text: string) => void;
  #held = '';
  #begun = false;

  constructor(onText: (text: string) => void) {
    this.#onText = onText;
  }

  /** The command has begun, as far as is known. */
  get hasBegun(): boolean {
    return this.#begun;
  }

  /** How it ended; null as long as that is not known. */
  get exit(): number | null {
    const [, code] = /^\u001e(\d{1,3})$/.exec(this.#held) ?? [];
    return code === undefined ? null : Number(code);
  }

  write(text: string): void {
    let all = this.#held + text;
    if (!this.#begun) {
      const at = all.indexOf(MARK);
      if (at === -1) return this.#tell(all);
      this.#begun = true;
      this.#tell(all.slice(0, at));
      all = all.slice(at + MARK.length);
    }
    // What follows the last mark may be the exit code. If more comes, it was output after all.
    const last = all.lastIndexOf(MARK);
    this.#held = last === -1 ? '' : all.slice(last);
    this.#tell(last === -1 ? all : all.slice(0, last));
  }

  #tell(text: string): void {
    if (text !== '') this.#onText(text);
  }
}

/**
 * What `ssh` says only if it never got as far as a command: that it could not connect, or was not let in. A connection that is reset
 * or times out is not among them, since that is said in the same words when a session breaks off: the command may have begun, and
 * the word of it been lost on the way.
 */
const NEVER_BEGAN =
  /ssh: could not resolve|ssh: connect to host|permission denied \(|host key verification failed|unable to negotiate with|exchange_identification|banner exchange|bad configuration|too many authentication failures|connection closed by .* port/i;

export function neverBegan(stderr: string): boolean {
  return NEVER_BEGAN.test(stderr);
}
