import { hash } from 'node:crypto';
import type { Hash } from '../kernel/index.js';

/** The hash of effect keys and of inputs, in the digits that everyone knows. */
export const sha256: Hash = (text) => hash('sha256', text);

/** The hash of the chain, in a third fewer letters: every row of the log keeps one. */
export const chainHash: Hash = (text) => (text.length > SHORT ? linkHash(text) : shortHash(text));

const linkHash: Hash = (text) => hash('sha256', text, 'base64url');

/** What many jobs end with, `null` or `{"ok":true}`, is this short; no link covers so little. */
const SHORT = 32;
const MOST_SHORT = 1_000;
const shortHashes = new Map<string, string>();

function shortHash(text: string): string {
  const known = shortHashes.get(text);
  if (known !== undefined) return known;
  if (shortHashes.size === MOST_SHORT) shortHashes.clear();
  const digest = linkHash(text);
  shortHashes.set(text, digest);
  return digest;
}
