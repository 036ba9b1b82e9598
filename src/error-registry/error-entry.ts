import type { ErrorClass } from '../kernel/index.js';

export type ErrorEntry = {
  readonly class: ErrorClass;
  /** Whether the same request may succeed later without being changed. */
  readonly retryable: boolean;
  readonly meaning: string;
  /** What whoever sees it should do. */
  readonly advice: string;
};
