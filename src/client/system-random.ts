import type { Random } from '../ports/random.js';

const WORDS = 1_024;
const RANGE = 2 ** 32;
/** A power of two up to here takes the last bits of a word, without the division that most of the time goes into. */
const MOST_BITS = 2 ** 30;

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
      if (below <= MOST_BITS && (below & (below - 1)) === 0) return word() & (below - 1);
      // Numbers above the last whole multiple would make the small ones likelier.
      const fair = RANGE - (RANGE % below);
      let drawn = word();
      while (drawn >= fair) drawn = word();
      return drawn % below;
    },
  };
}
