import { CALL_ERRORS, type CallErrorCode } from './error-registry/call-errors.js';
import type { ErrorEntry } from './error-registry/error-entry.js';
import { FAILURES } from './error-registry/failures.js';
import { REJECTIONS } from './error-registry/rejections.js';
import { REQUEST_ERRORS, type RequestErrorCode } from './error-registry/request-errors.js';
import { STORE_ERRORS, type StoreErrorCode } from './error-registry/store-errors.js';
import { UnreadableLog, type FailureCode, type RejectionCode } from './kernel/index.js';

export type { ErrorEntry } from './error-registry/error-entry.js';

export type ErrorCode = RejectionCode | FailureCode | StoreErrorCode | CallErrorCode | RequestErrorCode;

/** Every error code of the system, once. docs/errors.md is compared with it by a test. */
export const ERRORS: Readonly<Record<ErrorCode, ErrorEntry>> = {
  ...REJECTIONS,
  ...FAILURES,
  ...CALL_ERRORS,
  ...STORE_ERRORS,
  ...REQUEST_ERRORS,
};

/** Facts about a failed operation: small, and free of payloads. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

/** A failed operation. */
export class PawlError extends Error {
  override readonly name = 'PawlError';
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly details: ErrorDetails;

  constructor(
    code: ErrorCode,
    { detail, cause, details = {} }: { detail: string; cause?: unknown; details?: ErrorDetails },
  ) {
    super(`${detail}. ${ERRORS[code].advice}`, { cause });
    this.code = code;
    this.retryable = ERRORS[code].retryable;
    this.details = details;
  }
}

/** What went wrong, as one who asked is told; null if it has no code, and so is a bug of ours. */
export function knownError(error: unknown): PawlError | null {
  if (error instanceof PawlError) return error;
  if (!(error instanceof UnreadableLog)) return null;
  const { code, jobId, message } = error;
  return new PawlError(code, {
    detail: `job ${jobId} cannot be read: ${message}`,
    details: { jobId },
    cause: error,
  });
}
