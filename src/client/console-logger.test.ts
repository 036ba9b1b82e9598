import { expect, test } from 'vitest';
import { jsonLogger } from './console-logger.js';

test('a line keeps its own message and level, and loses no field', () => {
  const lines: unknown[] = [];
  const log = jsonLogger({ level: 'warn', write: (line) => void lines.push(JSON.parse(line)) });
  log.warn('an alert was raised', { rule: 'dlq_growth', message: 'look there', level: 3 });
  expect(lines).toEqual([
    { level: 'warn', message: 'an alert was raised', rule: 'dlq_growth', message_: 'look there', level_: 3 },
  ]);
});
