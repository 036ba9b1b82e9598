import { describe, expect, test } from 'vitest';
import { filesUnder, read } from './source-files.js';

const ID = /\b(?:DEC|RUN|JOB|GUA|RST|TSK)-\d+\b/g;

const spec = [...read('docs/spec.md').matchAll(/^- ((?:DEC|RUN|JOB|GUA|RST|TSK)-\d+)\b/gm)].map(
  (match) => match[1] ?? '',
);

/** IDs in the titles of tests. */
const named = new Set(
  ['src', 'test']
    .flatMap(filesUnder)
    .filter((path) => path.endsWith('.test.ts'))
    .flatMap((path) => [
      ...read(path).matchAll(
        /\b(?:test|it|describe)(?:\.\w+(?:\([^)]*\))?)*\(\s*(['"`])((?:\\.|(?!\1)[\s\S])*?)\1/g,
      ),
    ])
    .flatMap((match) => match[2]?.match(ID) ?? []),
);

/** docs/not-yet.md: what of the spec no test proves yet, one line for each ID. */
const notYet = [...read('docs/not-yet.md').matchAll(/^- ((?:DEC|RUN|JOB|GUA|RST|TSK)-\d+): (\S.*)$/gm)].map(
  (match) => match[1] ?? '',
);

/** How long that list may be. It only shrinks: lower this with it, never raise it. */
const NOT_YET_AT_MOST = 0;

describe('every item of the spec', () => {
  test('is found', () => {
    expect(spec.length).toBe(76);
    expect(new Set(spec).size).toBe(spec.length);
  });

  test.each(spec)('%s is named by a test, or stands in docs/not-yet.md', (id) => {
    expect(named.has(id) || notYet.includes(id)).toBe(true);
  });

  test('the list of what is not yet proven only shrinks', () => {
    expect(notYet.length).toBeLessThanOrEqual(NOT_YET_AT_MOST);
    expect(notYet).toEqual(spec.filter((id) => notYet.includes(id)));
  });

  test('no test names an item that the spec does not have', () => {
    expect([...named].filter((id) => !spec.includes(id))).toEqual([]);
  });
});
