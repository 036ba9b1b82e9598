import { hash } from 'node:crypto';
import type { Hash } from '../kernel/index.js';

/** The hash of effect keys and of inputs, in the digits that everyone knows. */
export const sha256: Hash = (text) => hash('sha256', text);

/** The hash of the chain, in a third fewer letters: every row of the log keeps one. */
export const chainHash: Hash = (text) => (text.length > SHORT ? linkHash(text) : shortHash(text));

const linkHash: Hash = (text) => hash('sha256', text, 'base64url');

/** What many jobs end with, `null` or `{"ok":true}`, is this short; no link covers so little. */
const SHORT = 32;
/** The last text of each length: what most jobs end with stays, and what comes once costs next to nothing. */
const last: { readonly text: string; readonly digest: string }[] = [];

function shortHash(text: string): string {
  const known = last[text.length];
  if (known?.text === text) return known.digest;
  const digest = linkHash(text);
  last[text.length] = { text, digest };
  return digest;
}
