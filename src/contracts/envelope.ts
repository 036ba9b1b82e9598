import { ERRORS, type ErrorCode } from '../errors.js';
import type { ErrorClass, RejectionDetails } from '../kernel/index.js';
import type { ContractName } from './contract.js';
import { errorCodeIn } from './error-codes.js';

export type Meta = { readonly trace_id: string; readonly request_id: string };

export type SuccessEnvelope<T> = {
  readonly success: true;
  readonly data: T;
  readonly message: 'ok';
  readonly meta: Meta;
};

export type ErrorEnvelope = {
  readonly success: false;
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly retryable: boolean;
    readonly class: ErrorClass;
  } & Readonly<Record<string, unknown>>;
  readonly meta: Meta;
};

export function successEnvelope<T>(data: T, meta: Meta): SuccessEnvelope<T> {
  return { success: true, data, message: 'ok', meta };
}

/** An error in the words of a contract. `fields` are what the contract adds: reason, conflict_fields, task. */
export function errorEnvelope(
  error: { readonly code: ErrorCode; readonly message?: string; readonly details?: RejectionDetails },
  {
    contract,
    meta,
    fields = {},
  }: { contract: ContractName; meta: Meta; fields?: Readonly<Record<string, unknown>> },
): ErrorEnvelope {
  const { meaning, advice, retryable, class: errorClass } = ERRORS[error.code];
  return {
    success: false,
    error: {
      ...fields,
      ...(error.details && Object.keys(error.details).length > 0 && { details: error.details }),
      code: errorCodeIn(contract, error.code),
      message: error.message ?? `${meaning} ${advice}`,
      retryable,
      class: errorClass,
    },
    meta,
  };
}
