import { beforeAll, expect, test } from 'vitest';
import { read } from '../source-files.js';
import { compileCli } from './compile-cli.js';
import { LONG } from '../long-mode.js';

let build: URL;
beforeAll(() => {
  build = compileCli('page');
}, 120_000);

// A minute of two processors, to find what `npm run docs:cli` would show in the next diff.
test.runIf(LONG)('docs/cli.md is what the commands print', { timeout: 900_000 }, async () => {
  const { cliPage } = (await import(new URL('scripts/cli-page/cli-page.js', build).href)) as {
    cliPage: (from: URL) => Promise<string>;
  };
  expect(bare(await cliPage(build))).toEqual(bare(read('docs/cli.md')));
});

/** Lines without what columns and the formatter decide: a time without milliseconds is shorter, once in a thousand. */
function bare(page: string): string[] {
  return page
    .replaceAll(/:00\.000Z/g, ':00Z')
    .split('\n')
    .map((line) => line.replaceAll(/[ -]+/g, ' ').trim())
    .filter((line) => line !== '');
}
