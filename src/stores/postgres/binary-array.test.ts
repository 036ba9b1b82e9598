import { expect, test } from 'vitest';
import { binaryArray } from './binary-array.js';

test('a list is written as the server keeps it: header, then each element behind its length', () => {
  const header = (oid: string, count: string) => `0000000100000001${oid}${count}00000001`;
  expect(binaryArray('text', ['ä', null, '']).toString('hex')).toBe(
    `${header('00000019', '00000003')}00000002c3a4ffffffff00000000`,
  );
  expect(binaryArray('int', [-2]).toString('hex')).toBe(`${header('00000017', '00000001')}00000004fffffffe`);
  expect(binaryArray('bigint', [2 ** 33 + 5]).toString('hex')).toBe(
    `${header('00000014', '00000001')}000000080000000200000005`,
  );
});

test('whole numbers of both signs are written as the server keeps them', () => {
  const numbers = [0, -1, 2 ** 31, -(2 ** 31) - 1, 2 ** 32, -(2 ** 32), 8.64e15, Number.MIN_SAFE_INTEGER];
  const written = binaryArray('bigint', numbers);
  expect(numbers.map((_, i) => written.readBigInt64BE(20 + i * 12 + 4))).toEqual(numbers.map(BigInt));
});

test('an empty list has no dimension', () => {
  expect(binaryArray('text', []).toString('hex')).toBe('000000000000000100000019');
});
