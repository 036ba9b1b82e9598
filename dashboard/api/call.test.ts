import { expect, test } from 'vitest';
import { isFinal, Refusal, Unreachable } from './call.js';
import { WrongShape } from './shape.js';

const refused = (status: number, code: string) =>
  new Refusal(status, { code, message: 'no', requestId: null });

test.each([
  ['what was asked for is wrong', refused(400, 'INVALID_REQUEST'), true],
  ['somebody else was faster', refused(409, 'DLQ_REQUEUE_CONFLICT'), true],
  ['the first one is still under way', refused(409, 'IDEMPOTENCY_IN_PROGRESS'), false],
  ['the server failed', refused(503, 'STORE_UNAVAILABLE'), false],
  ['a proxy gave up', refused(504, 'GATEWAY_TIMEOUT'), false],
  ['no answer came', new Unreachable('gone'), false],
  ['half an answer came', new WrongShape('data', 'text'), false],
])(
  'an act is not done twice: the same key is sent again unless it was refused for good (%s)',
  (_, error, expected) => {
    expect(isFinal(error)).toBe(expected);
  },
);
