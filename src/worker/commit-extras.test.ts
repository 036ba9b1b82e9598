import { expect, test } from 'vitest';
import { decide, NO_STEPS, type Decision } from '../kernel/index.js';
import { command } from '../testkit/index.js';
import { extrasOf } from './commit-extras.js';

const accepted: Decision = { ok: true, events: [] };
const refused = decide(null, command('complete'), NO_STEPS);

const letter = { entryId: 'child-1', kind: 'child', dueAt: 0, body: '{}' } as const;
const starts = { options: { extras: { outbox: [letter] } } };
const consumes = (key: string) => ({ options: { extras: { consumed: [key], inboxRev: 7 } } });
const plain = { options: {} };

test('what a refused command would have brought is not saved with what goes with it', () => {
  expect(refused.ok).toBe(false);
  const batch = [consumes('gone'), plain, consumes('paid')];
  const extras = extrasOf('w.1/1', { batch, decisions: [refused, accepted, accepted], ending: {} });
  expect(extras).toMatchObject({ attemptId: 'w.1/1', consumed: ['paid'], inboxRev: 7 });
  const child = { batch: [starts, plain], decisions: [refused, accepted], ending: {} };
  expect(extrasOf('w.1/1', child)).toMatchObject({ outbox: [], consumed: [] });
});

test('what follows from the events is saved behind what the commands bring', () => {
  const end = { ...letter, entryId: 'end' };
  const both = { batch: [starts], decisions: [accepted], ending: { outbox: [end] } };
  expect(extrasOf('w.1/1', both).outbox).toEqual([letter, end]);
  const none = { batch: [plain], decisions: [accepted], ending: { outbox: [end] } };
  expect(extrasOf('w.1/1', none)).toEqual({ attemptId: 'w.1/1', outbox: [end], dlqItem: null });
});
