import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { MUTANTS } from './mutants.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const mutant = MUTANTS[Number(process.env.PAWL_MUTANT)];

/** The unit tests, with one rule of the sources broken as they are loaded. No file is changed. */
export default defineConfig({
  root,
  plugins: [
    {
      name: 'plant-mutant',
      enforce: 'pre',
      transform(code, id) {
        if (!mutant || !id.endsWith(`/${mutant.file}`)) return null;
        return code.replace(mutant.from, () => mutant.to);
      },
    },
  ],
  test: {
    include: ['src/**/*.test.ts'],
    isolate: false,
    pool: 'threads',
    maxWorkers: 1,
    bail: 1,
    reporters: ['dot'],
  },
});
