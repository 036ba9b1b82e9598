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

  test('README links to what the package has, or into the repository, as it says', () => {
    const { files } = JSON.parse(read('package.json')) as { files: string[] };
    const inPackage = new Set([...files, 'LICENSE', 'src', 'test', 'dashboard', 'bench', 'examples']);
    const links = [...read('README.md').matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)].map(
      ([, to = '']) => to,
    );
    expect(links.length).toBeGreaterThan(20);
    expect(links.filter((link) => !inPackage.has(link.split('/', 1)[0] ?? ''))).toEqual([]);
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

  // Examples are compiled under `strict` by `npm run types`, and so is the code on these pages.
  describe('code in README.md, docs/guide.md, docs/operating.md and docs/run-state.md is code that is run', () => {
    const blocks = ['README.md', 'docs/guide.md', 'docs/operating.md', 'docs/run-state.md'].flatMap((page) =>
      codeOf(read(page)),
    );
    const files = filesUnder('examples').map((path) => bare(asOutside(read(path))));

    test.each(blocks.map((block) => [block.split('\n', 1)[0] ?? '', block]))('%s', (_first, block) => {
      expect(
        files.some((file) => file.includes(bare(block))),
        block,
      ).toBe(true);
    });

    test('the reader of code reads all of it, and would notice a change', () => {
      expect(blocks.length).toBeGreaterThan(20);
      expect(read('docs/guide.md').match(/^```/gm)?.length).toBe(2 * codeOf(read('docs/guide.md')).length);
      for (const block of blocks) {
        const changed = bare(block.replace(/\w+(?=\W*$)/, 'altered'));
        expect(files.some((file) => file.includes(changed))).toBe(false);
      }
    });
  });

  test('every example is in the guide, and run by a test', () => {
    const examples = filesUnder('examples').filter((path) => /^examples\/[^/]+\.ts$/.test(path));
    const programs = examples.filter((path) => !/\.test\.ts$|five-views/.test(path));
    expect(programs.length).toBeGreaterThan(4);
    for (const path of programs) {
      expect(read('docs/guide.md')).toContain(`(../${path})`);
      expect(read('test/examples.test.ts')).toContain(
        `run('${path.slice('examples/'.length, -'.ts'.length)}'`,
      );
    }
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

  test('whole programs on the first page and in the guide have their imports', () => {
    const programs = [...codeOf(read('README.md')), ...codeOf(read('docs/guide.md'))].filter((block) =>
      block.startsWith('import '),
    );
    expect(programs.map((block) => block.match(/from '[^']+'/g)?.map((from) => from.slice(6, -1)))).toEqual([
      ['pawl', './shop.js'],
      ['pawl'],
      ['vitest', 'pawl/testkit'],
      ['pawl'],
      ['vitest', 'pawl', 'pawl/testkit'],
    ]);
  });

  test('every decision is in the index', () => {
    const decisions = filesUnder('docs/decisions').map((path) => path.split('/').at(-1) ?? '');
    for (const page of decisions.filter((name) => name !== 'README.md'))
      expect(read('docs/decisions/README.md')).toContain(page);
  });
});

/** The TypeScript on a page. */
function codeOf(page: string): string[] {
  return [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map((match) => match[1] ?? '');
}

/** An example as an application writes it: it imports the package by its name. */
function asOutside(code: string): string {
  return code.replaceAll(/'(?:\.\.\/)+src\/(?:(testkit)\/)?index\.js'/g, (_path, part?: string) =>
    part ? "'pawl/testkit'" : "'pawl'",
  );
}

/** Without what the formatter decides: blanks, line breaks, and the commas that go with them. */
function bare(code: string): string {
  return code.replaceAll(/\s+/g, '').replaceAll(/,([)\]}])/g, '$1');
}
