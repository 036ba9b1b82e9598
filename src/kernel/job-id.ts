import { hash32 } from './hash32.js';
import type { Timestamp } from './payload.js';

/** Ids that a caller may bring along. Generated ones match too. */
export const JOB_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{7,127}$/;

/** Buckets route a job to its place in a distributed store. 1024 is two characters of a ULID exactly. */
export const BUCKETS = 1024;

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** Of one character. */
const BITS = 5;
const MASK = ALPHABET.length - 1;
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const TIME_LENGTH = 10;
const BUCKET_LENGTH = 2;
const ULID_LENGTH = 26;

/** Draws a whole number from 0 up to, not including, `below`. */
export type Draw = (below: number) => number;

/** A time-ordered id: a ULID whose first two random characters are the bucket. */
export function newJobId({ now, bucket, draw }: { now: Timestamp; bucket: number; draw: Draw }): string {
  let id = encode(now, TIME_LENGTH) + encode(bucket, BUCKET_LENGTH);
  while (id.length < ULID_LENGTH) id += ALPHABET.charAt(draw(ALPHABET.length));
  return id;
}

/** The bucket that an id carries; an id of the caller's own making gets one by its hash. */
export function bucketOf(jobId: string): number {
  if (!ULID.test(jobId)) return hash32(jobId) % BUCKETS;
  return (
    ALPHABET.indexOf(jobId.charAt(TIME_LENGTH)) * ALPHABET.length +
    ALPHABET.indexOf(jobId.charAt(TIME_LENGTH + 1))
  );
}

/** The bucket of a keyed start, so that the uniqueness of its key is a matter of one bucket. */
export function bucketOfKey({
  tenantId,
  scope,
  key,
}: {
  tenantId: string;
  scope: string | null;
  key: string;
}): number {
  return hash32(JSON.stringify([tenantId, scope, key])) % BUCKETS;
}

/** Six characters are what whole numbers are fast for; what is above them goes first. */
const FAST_LENGTH = 6;
const FAST = ALPHABET.length ** FAST_LENGTH;

function encode(value: number, length: number): string {
  if (length > FAST_LENGTH) {
    const above = Math.floor(value / FAST);
    return encode(above, length - FAST_LENGTH) + encode(value - above * FAST, FAST_LENGTH);
  }
  let encoded = '';
  for (let rest = value, i = 0; i < length; i++, rest >>= BITS) {
    encoded = ALPHABET.charAt(rest & MASK) + encoded;
  }
  return encoded;
}
