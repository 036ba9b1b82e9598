import { hash } from 'node:crypto';
import type { Hash } from '../kernel/index.js';

/** The hash of effect keys and of inputs, in the digits that everyone knows. */
export const sha256: Hash = (text) => hash('sha256', text);

/** The hash of the chain, in a third fewer letters: every row of the log keeps one. */
export const chainHash: Hash = (text) => (text.length > SHORT ? linkHash(text) : shortHash(text));

const linkHash: Hash = (text) => hash('sha256', text, 'base64url');

/** What many steps and jobs end with, `null`, `3` or `{"ok":true}`, is this short; no link covers so little. */
const SHORT = 32;
/** By length and last character, of which numbers have ten. */
const ENDINGS = 16;
/** The last text of each kind: what ends many stays, and what comes once costs next to nothing. */
const last: ({ readonly text: string; readonly digest: string } | null)[] = Array.from(
  { length: (SHORT + 1) * ENDINGS },
  () => null,
);

function shortHash(text: string): string {
  const { length } = text;
  const kind = length === 0 ? 0 : length * ENDINGS + (text.charCodeAt(length - 1) % ENDINGS);
  const known = last[kind];
  if (known?.text === text) return known.digest;
  const digest = linkHash(text);
  last[kind] = { text, digest };
  return digest;
}
