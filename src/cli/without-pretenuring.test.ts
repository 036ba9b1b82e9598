import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { FLAG } from './without-pretenuring.js';

/** V8 passes over a flag that it does not have, and would go on as before in silence. */
test('this V8 has the flag that working processes set', () => {
  const known = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
  expect(known.split(/\s+/)).toContain(FLAG.replace('--no-', '--'));
});
