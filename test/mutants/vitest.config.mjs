import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import { MUTANTS } from './mutants.mjs';

/** Most mutants fall to a plain test: the slow ones, over random histories, come last. */
class QuickFirst extends BaseSequencer {
  async sort(files) {
    const isSlow = ({ moduleId }) => /property|bad-input|walk|chain|codec/.test(moduleId);
    return files.toSorted((a, b) => Number(isSlow(a)) - Number(isSlow(b)));
  }
}

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
    include: ['src/kernel/**/*.test.ts', 'src/contracts/**/*.test.ts'],
    isolate: false,
    pool: 'threads',
    maxWorkers: 1,
    bail: 1,
    reporters: ['dot'],
    sequence: { sequencer: QuickFirst },
  },
});
