import { expect, test } from 'vitest';
import { whyNoProxy } from './ground.js';

test('GUA-1 a network is cut only where a proxy can stand; elsewhere the reason is said', () => {
  expect(whyNoProxy('postgres://localhost/app')).toBeNull();
  expect(whyNoProxy('postgres://db.example/app?sslmode=no-verify')).toBeNull();
  expect(whyNoProxy('postgres:///app?host=/var/run/postgresql')).toContain('no host');
  expect(whyNoProxy('postgres://db.example/app?sslmode=verify-full')).toContain('certificate');
});
