import { defineConfig } from 'vitest/config';

/** Tests of the whole that leave nothing behind in their process. `sqlite-plans` does: it puts a module in the place of another. */
const QUIET = [
  'test/{cli,conformance,crash,engine,http,isolation,remote,run-state,runner,sim}/**/*.test.ts',
  'test/stores/!(sqlite-plans).test.ts',
];

/** What takes servers, processes, a browser, or minutes: not for `npm run check`, which is of the mode `unit`. */
const SLOW = [
  'test/{conformance,crash,isolation,stores,http/long,cli-processes,remote,matrix,apps,dashboard}/**',
  'test/chaos/chaos.test.ts',
  'test/examples.test.ts',
  'test/bench/smoke.test.ts',
];

export default defineConfig(({ mode }) => ({
  test: {
    projects: [
      // They share what they import, which takes a third of the processor's time off the tests of stores.
      {
        extends: true,
        test: {
          name: 'units',
          include: ['src/**/*.test.ts', 'dashboard/**/*.test.ts', ...QUIET],
          isolate: false,
          // None of its own otherwise: it would take the place of those on the command line.
          ...(mode === 'unit' ? { exclude: SLOW } : {}),
        },
      },
      {
        extends: true,
        test: {
          name: 'systems',
          include: ['test/**/*.test.ts', 'examples/**/*.test.ts'],
          exclude: mode === 'unit' ? [...QUIET, ...SLOW] : QUIET,
        },
      },
    ],
    env: mode === 'unit' ? { PAWL_UNIT: '1' } : {},
    // Generous, for a machine that others keep busy, a tenth as fast for a minute: a test that hangs is noticed all the same.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 200_000 } },
    // Much of the time goes into waiting for processes and servers: two files at once, even on two cores.
    maxWorkers: 2,
    coverage: {
      provider: 'v8',
      include: ['src/kernel/**/*.ts'],
      exclude: ['**/*.test.ts', '**/*.d.ts'],
      reporter: [['text', { skipFull: true }]],
      thresholds: { branches: 100, functions: 100, lines: 100, statements: 100 },
    },
  },
}));
