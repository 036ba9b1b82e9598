import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OutputTail } from './output-tail.js';

test('RST-12 output is cut at its beginning, on a character’s boundary, and marked', () => {
  const tail = new OutputTail(10);
  tail.append('0123456789');
  expect([tail.text, tail.isTruncated]).toEqual(['0123456789', false]);
  tail.append('🐾🐾');
  expect([tail.text, tail.isTruncated]).toEqual(['89🐾🐾', true]);
  tail.append('é');
  // Of the ten bytes, two are the é, eight the paws: nothing is left over.
  expect(tail.text).toBe('🐾🐾é');
  tail.append('!');
  expect(tail.text).toBe('🐾é!');
});

test('RST-12 what is kept is always the end of what came, within its bytes, however it came', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'binary', maxLength: 40 })),
      fc.integer({ min: 4, max: 64 }),
      (parts, most) => {
        const tail = new OutputTail(most);
        for (const part of parts) tail.append(part);
        const all = parts.join('');
        expect(Buffer.byteLength(tail.text)).toBeLessThanOrEqual(most);
        expect(all.endsWith(tail.text)).toBe(true);
        expect(tail.isTruncated).toBe(tail.text.length < all.length);
        // Not more was cut than had to be: the next character would not have fitted.
        const before = /.$/su.exec(all.slice(0, all.length - tail.text.length))?.[0];
        if (before !== undefined) expect(Buffer.byteLength(before + tail.text)).toBeGreaterThan(most);
      },
    ),
  );
});
