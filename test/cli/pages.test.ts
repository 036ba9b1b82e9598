import { expect, test } from 'vitest';
import { ERRORS } from '../../src/errors.js';
import * as exported from '../../src/index.js';
import { filesUnder, read } from '../source-files.js';

test('every option of work() is in the guide', () => {
  const [, members = ''] = /export type WorkOptions = \{(.*?)\n\};/s.exec(read('src/client/app.ts')) ?? [];
  const options = [...members.matchAll(/readonly (\w+)\?/g)].map(([, name = '']) => name);
  expect(options).toContain('stopOnSignal');
  for (const name of options) expect(read('docs/guide.md')).toMatch(new RegExp(`^\\| \`${name}\` `, 'm'));
});

test('the error that docs/http.md shows ends with the advice of its code', () => {
  const { code, message } = /"code": "(?<code>\w+)",\s+"message": "(?<message>[^"]+)"/.exec(
    read('docs/http.md'),
  )?.groups ?? { code: '', message: '' };
  expect(message).toContain(`. ${ERRORS[code as keyof typeof ERRORS].advice}`);
});

test('pages for users call no function that the package does not export', () => {
  const pages = filesUnder('docs').filter((path) => /^docs\/[\w-]+\.md$/.test(path));
  const told = pages.flatMap((path) =>
    [...read(path).matchAll(/`(\w+)\(app\b/g)].map(([, name = '']) => name),
  );
  expect(told.filter((name) => !(name in exported))).toEqual([]);
  expect(read('docs/stores.md')).not.toContain('migrations:');
});
