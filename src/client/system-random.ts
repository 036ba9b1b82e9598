import type { Random } from '../ports/random.js';

const WORDS = 1_024;
const RANGE = 2 ** 32;

/** Chance from the operating system, fetched by the kilobyte: one call for each number is what costs. */
export function systemRandom(): Random {
  const words = new Uint32Array(WORDS);
  let used = WORDS;
  const word = (): number => {
    if (used === WORDS) {
      crypto.getRandomValues(words);
      used = 0;
    }
    return words[used++] as number;
  };
  return {
    int(below) {
      // Numbers above the last whole multiple would make the small ones likelier.
      const fair = RANGE - (RANGE % below);
      let drawn = word();
      while (drawn >= fair) drawn = word();
      return drawn % below;
    },
  };
}
