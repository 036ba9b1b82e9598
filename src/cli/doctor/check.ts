/** `warn` is for a person to judge; `fail` means that something promised does not hold. */
export type CheckStatus = 'ok' | 'warn' | 'fail';

export type Check = {
  readonly name: string;
  readonly status: CheckStatus;
  /** What was found, and where something is wrong, what to do. */
  readonly message: string;
  /** The guarantees that do not hold as things are (docs/spec.md, section 3). */
  readonly voids: readonly string[];
};

export function ok(name: string, message: string): Check {
  return { name, status: 'ok', message, voids: [] };
}

export function warn(name: string, message: string, voids: readonly string[] = []): Check {
  return { name, status: 'warn', message, voids };
}

export function fail(name: string, message: string, voids: readonly string[] = []): Check {
  return { name, status: 'fail', message, voids };
}

export function megabytes(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MB`;
}

/** A length of time as people say it. */
export function timespan(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
