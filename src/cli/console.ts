import { PawlError } from '../errors.js';

/** Where a command writes. */
export type Console = {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Waits until what was written has been taken, so that long output does not pile up in memory. */
  readonly drained?: () => Promise<void>;
  /** Progress is shown to people only. */
  readonly isTerminal: boolean;
};

/** What is not ours to print raw: a name from the database could otherwise rewrite the terminal. */
export function printable(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '�');
}

export function print(
  console: Console,
  { json, data, text }: { json: boolean; data: unknown; text: string },
): void {
  console.out(json ? `${JSON.stringify(data)}\n` : `${printable(text)}\n`);
}

/** One sentence with its code, and what to do. */
export function printError(console: Console, error: unknown, { json }: { json: boolean }): void {
  if (!(error instanceof PawlError)) {
    console.err(`${printable(error instanceof Error ? (error.stack ?? error.message) : String(error))}\n`);
    return;
  }
  const { code, message, retryable } = error;
  console.err(
    json
      ? `${JSON.stringify({ error: { code, message, retryable } })}\n`
      : `pawl: ${code}: ${printable(message)}\n`,
  );
}
