import { ERRORS, PawlError } from '../errors.js';
import type { ErrorClass } from '../kernel/index.js';

/** What the shell sees, by the class of the error. 0 is success; 1 also stands for a check that did not pass. */
const EXIT_CODES: Readonly<Record<ErrorClass, number>> = {
  permanent: 1,
  validation: 2,
  business_rule: 3,
  transient: 75,
  security_sensitive: 77,
};

export const CHECK_FAILED = 1;
/** A command line that nobody understands. */
export const USAGE = 2;
/** A bug of ours, as `sysexits` calls it. */
const SOFTWARE = 70;

export function exitCodeOf(error: unknown): number {
  return error instanceof PawlError ? EXIT_CODES[ERRORS[error.code].class] : SOFTWARE;
}

export const EXIT_CODES_HELP =
  'Exit codes: 0 done, 1 failed for good (a job, a check, a store), 2 wrong usage or input, 3 refused,\n' +
  '75 try again later, 77 not allowed, 70 a bug.';
