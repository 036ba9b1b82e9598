import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CONTRACT_CODES } from '../src/contracts/index.js';
import { ERRORS } from '../src/errors.js';
import { filesUnder, read, ROOT } from './source-files.js';

const pages = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...filesUnder('docs'),
].filter((path) => path.endsWith('.md'));

describe('documents', () => {
  test.each(pages)('%s: every link leads somewhere', (path) => {
    const links = [...read(path).matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)].map(
      (match) => match[1] ?? '',
    );
    expect(links.filter((link) => !existsSync(join(ROOT, dirname(path), link)))).toEqual([]);
  });

  test('docs/errors.md has every code with its meaning and advice', () => {
    const cells = read('docs/errors.md')
      .split('\n')
      .map((line) => line.split('|').map((cell) => cell.trim()));
    for (const [code, { class: kind, retryable, meaning, advice }] of Object.entries(ERRORS)) {
      expect(cells).toContainEqual(['', `\`${code}\``, kind, retryable ? 'yes' : 'no', meaning, advice, '']);
    }
    const documented = cells
      .map(([, code = '']) => code.match(/^`([A-Z_]+)`$/)?.[1])
      .filter((code) => code !== undefined);
    const expected = [...Object.keys(ERRORS), ...Object.keys(CONTRACT_CODES)];
    expect(documented.toSorted()).toEqual(expected.toSorted());
  });

  test('README’s example is the file that is run', () => {
    const example = read('examples/first-rule.test.ts').replace('../src/testkit/index.js', 'pawl/testkit');
    expect(read('README.md')).toContain(`\`\`\`ts\n${example}\`\`\``);
  });

  test('every script that a page tells to run exists', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const told = pages
      .filter((path) => path !== 'docs/spec.md')
      .flatMap((path) => [...read(path).matchAll(/npm run ([a-z][a-z:-]*)/g)]);
    expect(told.length).toBeGreaterThan(3);
    for (const [, name = ''] of told) expect(scripts).toHaveProperty([name]);
  });

  test('CI runs the README’s commands and nothing else', () => {
    const commands = read('.ci/run')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#') && !line.startsWith('set '));
    expect(commands).toEqual(['npm ci', 'npm test']);
    expect(read('README.md')).toContain('npm ci && npm test');
  });

  test('every decision is in the index', () => {
    const decisions = filesUnder('docs/decisions').map((path) => path.split('/').at(-1) ?? '');
    for (const page of decisions.filter((name) => name !== 'README.md'))
      expect(read('docs/decisions/README.md')).toContain(page);
  });
});
