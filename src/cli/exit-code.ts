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
/** A bug of ours, as `sysexits` calls it. */
const SOFTWARE = 70;

export function exitCodeOf(error: unknown): number {
  return error instanceof PawlError ? EXIT_CODES[ERRORS[error.code].class] : SOFTWARE;
}
