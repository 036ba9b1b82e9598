import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { ROOT } from './source-files.js';

test('npm start tells the story of one job to its end', { timeout: 60_000 }, () => {
  const shown = execFileSync('npm', ['run', '--silent', 'start'], {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  expect(shown).toMatch(/may not charge again …\s+refused: EFFECT_BARRIER/);
  expect(shown).toMatch(/wants to finish: stale\.\s+refused: STALE_ATTEMPT/);
  expect(shown).toMatch(
    /the job is done\.\s+succeeded\s+succeeded\s+succeeded\s+Completed\s+success\s+succeeded/,
  );
  expect(shown).toContain('invariants broken: 0');
});
