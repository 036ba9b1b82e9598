import type { Random } from '../ports/random.js';

/**
 * A seeded stream of whole numbers: the same seed gives the same numbers on every machine, because only 32-bit
 * integer arithmetic is used (xoshiro128**, seeded by splitmix32).
 */
export function prng(seed: number): Random {
  let mix = seed | 0;
  const splitmix = (): number => {
    mix = (mix + 0x9e3779b9) | 0;
    let z = Math.imul(mix ^ (mix >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return (z ^ (z >>> 15)) | 0;
  };
  let [a, b, c, d] = [splitmix(), splitmix(), splitmix(), splitmix()];

  const next = (): number => {
    const scaled = Math.imul(b, 5);
    const result = Math.imul((scaled << 7) | (scaled >>> 25), 9);
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = (d << 11) | (d >>> 21);
    return result >>> 0;
  };

  return {
    int(below) {
      // Numbers past the last whole multiple would favour the small ones.
      const limit = 2 ** 32 - (2 ** 32 % below);
      let drawn = next();
      while (drawn >= limit) drawn = next();
      return drawn % below;
    },
  };
}
