import type { ErrorEntry } from './error-entry.js';

export type RequestErrorCode =
  | 'INVALID_REQUEST'
  | 'REQUEST_TOO_LARGE'
  | 'MEDIA_TYPE_UNSUPPORTED'
  | 'ROUTE_NOT_FOUND'
  | 'METHOD_NOT_ALLOWED'
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'KEY_NOT_FOUND'
  | 'KEYS_REQUIRED'
  | 'IDEMPOTENCY_CONFLICT'
  | 'IDEMPOTENCY_IN_PROGRESS'
  | 'JOB_HELD'
  | 'COMMIT_DIFFERS'
  | 'NOT_READY'
  | 'ADDRESS_UNUSABLE'
  | 'INTERNAL';

/** What the HTTP API says no with before the engine is asked, and what it says when it has a bug. */
export const REQUEST_ERRORS: Readonly<Record<RequestErrorCode, ErrorEntry>> = {
  INVALID_REQUEST: {
    class: 'validation',
    retryable: false,
    meaning: 'The request is not one that this address understands.',
    advice: 'Correct the field that is named; /openapi.json describes every request.',
  },
  REQUEST_TOO_LARGE: {
    class: 'validation',
    retryable: false,
    meaning: 'The body of the request is larger than the server reads.',
    advice: 'Send less at a time, or store the data elsewhere and pass a reference to it.',
  },
  MEDIA_TYPE_UNSUPPORTED: {
    class: 'validation',
    retryable: false,
    meaning: 'The body of the request is not JSON, or does not say so.',
    advice: 'Send JSON with `content-type: application/json`.',
  },
  ROUTE_NOT_FOUND: {
    class: 'validation',
    retryable: false,
    meaning: 'There is nothing at this address.',
    advice: 'See /openapi.json for the addresses that there are.',
  },
  METHOD_NOT_ALLOWED: {
    class: 'validation',
    retryable: false,
    meaning: 'This address does not take this method.',
    advice: 'Use one of those that the `allow` header lists.',
  },
  UNAUTHENTICATED: {
    class: 'security_sensitive',
    retryable: false,
    meaning: 'The request carries no key, or one that is not valid.',
    advice: 'Send `authorization: Bearer <key>`; `pawl keys create` makes one.',
  },
  FORBIDDEN: {
    class: 'security_sensitive',
    retryable: false,
    meaning: 'The key may not do this.',
    advice: 'Use a key with the role that is named.',
  },
  KEY_NOT_FOUND: {
    class: 'validation',
    retryable: false,
    meaning: 'There is no key with this id, or it belongs to another tenant.',
    advice: 'See `pawl keys list`.',
  },
  KEYS_REQUIRED: {
    class: 'security_sensitive',
    retryable: false,
    meaning: 'Without keys the server listens on this machine only.',
    advice: 'Make a key with `pawl keys create`, or listen on 127.0.0.1.',
  },
  IDEMPOTENCY_CONFLICT: {
    class: 'business_rule',
    retryable: false,
    meaning: 'The Idempotency-Key came with another request before.',
    advice: 'Use a new key for a new request.',
  },
  IDEMPOTENCY_IN_PROGRESS: {
    class: 'transient',
    retryable: true,
    meaning: 'The first request with this Idempotency-Key has not been answered yet.',
    advice: 'Try again in a moment: the answer will be the same.',
  },
  JOB_HELD: {
    class: 'business_rule',
    retryable: true,
    meaning: 'A live worker holds the job.',
    advice: 'Wait until it is done with it.',
  },
  COMMIT_DIFFERS: {
    class: 'permanent',
    retryable: false,
    meaning: 'The server came to another result than the remote worker whose commit it was asked to save.',
    advice: 'Run worker and server from the same release.',
  },
  NOT_READY: {
    class: 'transient',
    retryable: true,
    meaning: 'The process cannot do its work at the moment.',
    advice: 'Send requests elsewhere until it is ready; its log says what is wrong.',
  },
  ADDRESS_UNUSABLE: {
    class: 'permanent',
    retryable: false,
    meaning: 'The server cannot listen on this address.',
    advice: 'Choose another port (--port, or --health-port of a worker), or end whatever listens there.',
  },
  INTERNAL: {
    class: 'permanent',
    retryable: false,
    meaning: 'The server has a bug.',
    advice: 'Report it with the request id; the log of the server says more.',
  },
};
