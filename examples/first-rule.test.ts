import { test } from 'vitest';
import { claimedBy, command, created, given, interrupted } from '../src/testkit/index.js';

test('a worker that lost its lease cannot finish the job', () => {
  given(created(), claimedBy('worker-a'), interrupted(), claimedBy('worker-b'))
    .when(command('complete', { attemptId: 'worker-a/1' }))
    .thenRejected('STALE_ATTEMPT')
    .when(command('complete', { attemptId: 'worker-b/1' }))
    .thenEvents({ type: 'job.succeeded' });
});
