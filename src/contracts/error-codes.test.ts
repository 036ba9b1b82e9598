import { describe, expect, test } from 'vitest';
import { CALL_ERRORS } from '../error-registry/call-errors.js';
import { REQUEST_ERRORS } from '../error-registry/request-errors.js';
import { STORE_ERRORS } from '../error-registry/store-errors.js';
import { ERRORS, type ErrorCode } from '../errors.js';
import { FAILURE_CODES, REJECTION_CODES } from '../kernel/index.js';
import { CONTRACT_CODES, CONTRACT_NAMES, errorCodeIn, errorEnvelope, successEnvelope } from './index.js';

const meta = { trace_id: 't', request_id: 'r' };

describe('DEC-14 one table of error codes', () => {
  test('the registry holds every code once', () => {
    const codes = [
      ...REJECTION_CODES,
      ...FAILURE_CODES,
      ...Object.keys(CALL_ERRORS),
      ...Object.keys(STORE_ERRORS),
      ...Object.keys(REQUEST_ERRORS),
    ];
    expect(Object.keys(ERRORS).toSorted()).toEqual(codes.toSorted());
    expect(new Set(codes).size).toBe(codes.length);
  });

  test('DEC-14 an illegal transition has its own name in each contract', () => {
    expect(CONTRACT_NAMES.map((contract) => errorCodeIn(contract, 'INVALID_TRANSITION'))).toEqual([
      'RUN_INVALID_TRANSITION',
      'WF_STATE_TRANSITION_INVALID',
      'ErrInvalidTransition',
      'RUN_STATE_INVALID_TRANSITION',
      'TASK_INVALID_TRANSITION',
    ]);
  });

  test('DEC-14 what a contract has no word for goes by its engine name', () => {
    expect(errorCodeIn('guarantees', 'STALE_ATTEMPT')).toBe('ErrStaleAttempt');
    expect(errorCodeIn('jobs', 'STALE_ATTEMPT')).toBe('STALE_ATTEMPT');
    expect(errorCodeIn('tasks', 'DUPLICATE')).toBe('TASK_DUPLICATE');
  });

  test('no two engine codes share a name within one contract', () => {
    for (const contract of CONTRACT_NAMES) {
      const names = (Object.keys(ERRORS) as ErrorCode[]).map((code) => errorCodeIn(contract, code));
      expect(new Set(names).size, contract).toBe(names.length);
    }
    for (const code of Object.keys(CONTRACT_CODES)) expect(ERRORS).toHaveProperty(code);
  });
});

describe('JOB-13 the envelope', () => {
  test('JOB-13 success', () => {
    expect(successEnvelope({ job_id: 'j' }, meta)).toEqual({
      success: true,
      data: { job_id: 'j' },
      message: 'ok',
      meta,
    });
  });

  test('JOB-13 errors carry code, message, retryable and class, and what the contract adds', () => {
    const error = { code: 'DUPLICATE' as const, details: { jobId: 'j' } };
    const envelope = errorEnvelope(error, {
      contract: 'tasks',
      meta,
      fields: { conflict_fields: ['timeout_ms'], code: 'HIJACKED' },
    });
    expect(envelope).toEqual({
      success: false,
      error: {
        code: 'TASK_DUPLICATE',
        message: expect.stringContaining('Use a new key') as unknown,
        retryable: false,
        class: 'business_rule',
        conflict_fields: ['timeout_ms'],
        details: { jobId: 'j' },
      },
      meta,
    });
    expect(errorEnvelope({ code: 'NOT_DUE' }, { contract: 'jobs', meta }).error).not.toHaveProperty(
      'details',
    );
  });
});
