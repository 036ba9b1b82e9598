import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { cliPage } from '../../scripts/cli-page/cli-page.js';
import { read } from '../source-files.js';
import { bundled } from '../bundled.js';
import { LONG } from '../long-mode.js';

// A minute of two processors, to find what `npm run docs:cli` would show in the next diff.
test.runIf(LONG)('docs/cli.md is what the commands print', { timeout: 900_000 }, async () => {
  const page = await cliPage(pathToFileURL(`${await bundled()}/`));
  expect(bare(page)).toEqual(bare(read('docs/cli.md')));
});

/** Blocks without what columns and the formatter decide: a time without milliseconds is shorter, once in a thousand. */
function bare(page: string): string[] {
  return page
    .replaceAll(/:00\.000Z/g, ':00Z')
    .replaceAll(/[\s-]+/g, ' ')
    .replaceAll(', }', ' }')
    .split('```');
}
