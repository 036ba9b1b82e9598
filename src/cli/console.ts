import { ERRORS, PawlError, type ErrorCode } from '../errors.js';

/** Where a command writes, and reads. */
export type Console = {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Waits until what was written has been taken, so that long output does not pile up in memory. */
  readonly drained?: () => Promise<void>;
  /** Progress is shown to people only. */
  readonly isTerminal: boolean;
  /** All of standard input; absent where there is none. */
  readonly readInput?: () => Promise<string>;
};

/** What is not ours to print raw: a name from the database could otherwise rewrite the terminal. */
export function printable(text: string): string {
  return text.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    '�',
  );
}

/** The same for what has one line to stand in. */
export function oneLine(text: string): string {
  return printable(text.replaceAll(/\s*\n\s*/g, ' ').replaceAll('\t', ' '));
}

/** What a command has to say: one line of JSON, or text for people. */
export function print(
  console: Console,
  { json, data, text }: { json: boolean; data: unknown; text: string },
): void {
  console.out(json ? `${JSON.stringify(data)}\n` : `${printable(text)}\n`);
}

/** One sentence with its code, and what to do. What has no code is a bug of ours: where it happened is told too. */
export function printError(console: Console, error: unknown, { json }: { json: boolean }): void {
  if (error instanceof PawlError) {
    const { code, message } = error;
    console.err(json ? errorLine(code, message) : `pawl: ${code}: ${printable(message)}\n`);
    return;
  }
  const thrown: Pick<Error, 'message' | 'stack'> =
    error instanceof Error ? error : { message: String(error) };
  const { message, stack = message } = thrown;
  console.err(json ? errorLine('INTERNAL', message, { stack }) : `${printable(stack)}\n`);
}

/** What `--json` promises of an error, whatever kind it is of: one line. */
export function errorLine(code: ErrorCode, message: string, more: { readonly stack?: string } = {}): string {
  const { retryable, class: errorClass } = ERRORS[code];
  return `${JSON.stringify({ error: { code, message, retryable, class: errorClass, ...more } })}\n`;
}
