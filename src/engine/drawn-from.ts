import type { Draw } from '../kernel/index.js';
import { sha256 } from './sha256.js';

/** Of the hash's sixty-four digits each draw takes so many. */
const DIGITS = 4;

/** Chance that is no chance: whoever asks for the same text draws the same numbers, sixteen of them, each below 65,536 at most. */
export function drawnFrom(text: string): Draw {
  const digits = sha256(text);
  let at = 0;
  return (below) => Number.parseInt(digits.slice(at, (at += DIGITS)), 16) % below;
}
