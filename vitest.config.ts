import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      // They start nothing that outlives them, and share what they import: a quarter of their time.
      {
        extends: true,
        test: { name: 'units', include: ['src/**/*.test.ts', 'dashboard/**/*.test.ts'], isolate: false },
      },
      { extends: true, test: { name: 'systems', include: ['test/**/*.test.ts', 'examples/**/*.test.ts'] } },
    ],
    // Generous, for a busy machine: a test that hangs is noticed all the same, and none waits for time to pass.
    testTimeout: 30_000,
    // Much of the time goes into waiting for processes and servers: two files at once, even on two cores.
    maxWorkers: 2,
    hookTimeout: 60_000,
    coverage: {
      provider: 'v8',
      include: ['src/kernel/**/*.ts'],
      exclude: ['**/*.test.ts', '**/*.d.ts'],
      reporter: [['text', { skipFull: true }]],
      thresholds: { branches: 100, functions: 100, lines: 100, statements: 100 },
    },
  },
});
