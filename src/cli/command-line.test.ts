import { expect, test } from 'vitest';
import { commandLine } from './command-line.js';

const AGAIN = ['pawl', 'apply', 'slow.yaml', '--run-id', 'slowrun-2'];

test('RST-9 what was given is given again, so that it goes on in the same store', () => {
  expect(commandLine(AGAIN, { store: 'sqlite:other.db', config: undefined, runs: 'file:runs' })).toBe(
    'pawl apply slow.yaml --run-id slowrun-2 --store sqlite:other.db --runs file:runs',
  );
  expect(commandLine(AGAIN, { store: undefined })).toBe(AGAIN.join(' '));
});

test('words that a shell would take apart are quoted', () => {
  expect(commandLine(['pawl', 'apply', "it's slow.yaml"], { config: '$HOME/a b.ts' })).toBe(
    String.raw`pawl apply 'it'\''s slow.yaml' --config '$HOME/a b.ts'`,
  );
});

test('a password is not shown, and whoever types the line is told so', () => {
  const store = 'postgres://me:secret@localhost/app';
  expect(commandLine(AGAIN, { store })).toBe(
    "pawl apply slow.yaml --run-id slowrun-2 --store 'postgres://me:***@localhost/app' (with the password in the place of ***)",
  );
});
