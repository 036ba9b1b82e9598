import { hash32 } from './hash32.js';
import type { Timestamp } from './payload.js';

/** Ids that a caller may bring along. Generated ones match too. */
export const JOB_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{7,127}$/;

/** The same in words, behind the name of what has to follow it. */
export const JOB_ID_RULE = 'takes 8 to 128 letters, digits and . _ : -, and begins with a letter or digit';

/** Buckets route a job to its place in a distributed store. 1024 is two characters of a ULID exactly. */
export const BUCKETS = 1024;

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const TIME_LENGTH = 10;

/** Ids are drawn and put together by the pair: one character at a time took twice as long. */
const PAIRS = ALPHABET.split('').flatMap((first) => ALPHABET.split('').map((second) => first + second));
const PAIR = PAIRS.length;
const SIX = PAIR ** 3;

/** Draws a whole number from 0 up to, not including, `below`, which is 1,024 at most. */
export type Draw = (below: number) => number;

/** A time-ordered id: a ULID whose first two random characters are the bucket. */
export function newJobId({ now, bucket, draw }: { now: Timestamp; bucket: number; draw: Draw }): string {
  if (now !== latest.time) latest = { time: now, text: timeOf(now) };
  const drawn = (): string => pair(draw(PAIR));
  return latest.text + pair(bucket) + drawn() + drawn() + drawn() + drawn() + drawn() + drawn() + drawn();
}

/** Many ids have the same time. */
let latest = { time: 0, text: timeOf(0) };

function timeOf(now: Timestamp): string {
  const above = Math.floor(now / SIX);
  return (six(above) + six(now - above * SIX)).slice(-TIME_LENGTH);
}

/** A number below `PAIR`. */
function pair(value: number): string {
  return PAIRS[value] as string;
}

/** A number below `SIX`, which is what fits into a small integer. */
function six(value: number): string {
  return pair(value >>> 20) + pair((value >>> 10) & (PAIR - 1)) + pair(value & (PAIR - 1));
}

/** Whether an id looks like one that was made here. */
export function isMadeId(text: string): boolean {
  return ULID.test(text);
}

/** The bucket that an id carries; an id of the caller's own making gets one by its hash. */
export function bucketOf(jobId: string): number {
  if (!isMadeId(jobId)) return hash32(jobId) % BUCKETS;
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
