import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { chainHash, sha256 } from './sha256.js';

test('a text has its own hash, however short it is, whatever came before it, and as often as it comes', () => {
  const texts = [
    'null',
    'true',
    'null',
    'null',
    '',
    'x'.repeat(32),
    'y'.repeat(32),
    'x'.repeat(33),
    'é',
    'ü',
    '1',
    '2',
    '1',
    'A',
    '21',
    '11',
    '21',
  ];
  for (const text of texts) {
    expect(chainHash(text)).toBe(createHash('sha256').update(text).digest('base64url'));
    expect(sha256(text)).toBe(createHash('sha256').update(text).digest('hex'));
  }
});
