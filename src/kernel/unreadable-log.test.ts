import { expect, test } from 'vitest';
import { encodeEvents } from './encode-events.js';
import { InvariantViolation } from './invariant-violation.js';
import { eventsOf, UnreadableLog } from './unreadable-log.js';

test('a row of a log says what was written, or that it cannot be read', () => {
  const [event] = eventsOf({
    jobId: 'job_1',
    rev: 2,
    body: encodeEvents([{ type: 'job.cancelled', at: 1, actor: 'client', reason: null }]),
  });
  expect(event).toMatchObject({ type: 'job.cancelled', at: 1 });
  const damaged = () => eventsOf({ jobId: 'job_1', rev: 2, body: 'x' });
  expect(damaged).toThrow(UnreadableLog);
  expect(damaged).toThrow(InvariantViolation);
  expect(damaged).toThrow(expect.objectContaining({ code: 'EVENT_UNREADABLE', jobId: 'job_1' }));
});
