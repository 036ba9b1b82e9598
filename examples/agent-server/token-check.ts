import { createHash, timingSafeEqual } from 'node:crypto';

/** Tells whether a header carries the token. How long it takes says nothing about how much of it was right, or its length. */
export function tokenCheck(token: string): (header: string | undefined) => boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  const expected = digest(`Bearer ${token}`);
  return (header = '') => timingSafeEqual(digest(header), expected);
}
