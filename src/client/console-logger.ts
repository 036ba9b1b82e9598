import type { LogFields, Logger, LogLevel } from '../ports/logger.js';

const RANK: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

/** What a line says by itself. Fields of the same names get another: none of both is lost. */
const OWN: ReadonlySet<string> = new Set(['level', 'message']);

/** One line of JSON for each message, on standard error. */
export function jsonLogger({ level, write }: { level: LogLevel; write: (line: string) => void }): Logger {
  const at =
    (own: LogLevel) =>
    (message: string, fields: LogFields = {}): void => {
      if (RANK[own] >= RANK[level]) write(`${JSON.stringify({ level: own, message, ...plain(fields) })}\n`);
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** Errors have no members of their own that JSON would show. */
function plain(fields: LogFields): LogFields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      OWN.has(name) ? `${name}_` : name,
      value instanceof Error ? { name: value.name, message: value.message, ...code(value) } : value,
    ]),
  );
}

function code(error: Error): { code?: unknown } {
  return 'code' in error ? { code: error.code } : {};
}
