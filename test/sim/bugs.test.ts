import { describe, expect, test } from 'vitest';
import { BUGS, SAMPLE_BUGS } from '../../src/sim/bugs/index.js';
import { filesUnder } from '../source-files.js';

describe('planted bugs', () => {
  test('invariant 30: there are at least 60, each with a name and a file', () => {
    expect(BUGS.length).toBeGreaterThanOrEqual(60);
    expect(new Set(BUGS.map(({ name }) => name)).size).toBe(BUGS.length);
    const sources = new Set(filesUnder('src'));
    expect(BUGS.filter(({ file }) => !sources.has(`src/${file}.ts`))).toEqual([]);
    expect(BUGS.filter(({ from, to }) => from === to)).toEqual([]);
  });

  test('those that CI plants exist', () => {
    const names = new Set(BUGS.map(({ name }) => name));
    expect(SAMPLE_BUGS.filter((name) => !names.has(name))).toEqual([]);
  });
});
