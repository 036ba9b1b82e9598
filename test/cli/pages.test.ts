import { describe, expect, test } from 'vitest';
import { ERRORS } from '../../src/errors.js';
import * as exported from '../../src/index.js';
import * as testkit from '../../src/testkit/index.js';
import { filesUnder, read } from '../source-files.js';

test('every option of work() is in the guide', () => {
  const [, members = ''] =
    /export type WorkOptions = \{(.*?)\n\};/s.exec(read('src/client/work-options.ts')) ?? [];
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

describe('pages for users', () => {
  const text = ['README.md', ...filesUnder('docs').filter((path) => /^docs\/[\w-]+\.md$/.test(path))]
    .map(read)
    .join('\n');

  test('import nothing that the package does not export', () => {
    const packages: Readonly<Record<string, object>> = { pawl: exported, 'pawl/testkit': testkit };
    const imports = [...text.matchAll(/^import \{ ([^}]+) \} from '(pawl[\w/-]*)';$/gm)];
    expect(new Set(imports.map(([, , from]) => from))).toEqual(new Set(Object.keys(packages)));
    for (const [, names = '', from = ''] of imports) {
      const values = names.split(', ').filter((name) => !name.startsWith('type '));
      expect(values.filter((name) => !(name in (packages[from] ?? {})))).toEqual([]);
    }
    // An option of what opens a store, which is not exported.
    expect(text).not.toContain('migrations:');
  });

  test('call nothing of an application that it does not have', async () => {
    const { app, stop } = await testkit.testApp({ work: false });
    const calls = new Set([...text.matchAll(/\bapp\.([\w.]+)\(/g)].map(([, path = '']) => path));
    expect(calls).toContain('deadLetters.requeueAll');
    const called = (path: string) =>
      path.split('.').reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], app);
    expect([...calls].filter((path) => typeof called(path) !== 'function')).toEqual([]);
    await stop();
  });
});
