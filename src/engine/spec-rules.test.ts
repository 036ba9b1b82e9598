import { expect, test } from 'vitest';
import { pawl, task } from '../index.js';

const small = task({ name: 'small' }, () => 1);

/** What is refused, and what is just taken. */
const CASES: readonly [field: string, refused: object, taken: object, rule: string][] = [
  ['jobId', { jobId: 'short-1' }, { jobId: 'long-eno' }, 'takes 8 to 128 letters, digits and . _ : -'],
  ['jobId', { jobId: 'j'.repeat(129) }, { jobId: 'j'.repeat(128) }, 'takes 8 to 128 letters'],
  ['priority', { priority: 1_000_001 }, { priority: 1_000_000 }, 'from -1,000,000 to 1,000,000'],
  ['priority', { priority: -1_000_001 }, { priority: -1_000_000 }, 'a whole number'],
  ['priority', { priority: 0.5 }, { priority: 0 }, 'a whole number'],
  ['retry.maxRetries', { maxRetries: 1_000_001 }, { maxRetries: 1_000_000 }, 'from 0 to 1,000,000'],
  ['timeoutMs', { timeoutMs: 0 }, { timeoutMs: 1 }, 'a whole number from 1 up'],
  ['queue', { queue: 'q'.repeat(201) }, { queue: 'q'.repeat(200) }, '1 to 200 characters'],
  ['tenantId', { tenantId: 't'.repeat(101) }, { tenantId: 't'.repeat(100) }, '1 to 100 characters'],
  ['taskId', { taskId: 't'.repeat(201) }, { taskId: 't'.repeat(200) }, '1 to 200 characters'],
  ['idempotencyKey', { idempotencyKey: '' }, { idempotencyKey: 'k'.repeat(255) }, '1 to 255 characters'],
];

test.each(CASES)('RST-5 a start is told the rule for %s: %j', async (field, refused, taken, rule) => {
  const app = await pawl({ store: 'memory:', log: { debug() {}, info() {}, warn() {}, error() {} } });
  try {
    const start = app.start(small, null, refused);
    await expect(start).rejects.toMatchObject({ code: 'INVALID_OPTION' });
    await expect(start).rejects.toThrow(new RegExp(`'small': ${field.replace('.', '\\.')} takes`));
    await expect(start).rejects.toThrow(rule);
    expect((await app.start(small, null, taken)).idempotentHit).toBe(false);
  } finally {
    await app.close();
  }
});
