import { createHash } from 'node:crypto';
import type { EvidenceRecord } from './evidence-record.js';

const OPENING = '{"seal":"';
const HEX = 64;
const CLOSING = '",';
const REST = OPENING.length + HEX + CLOSING.length;

/** What the first line of a file is sealed with. */
export const SEAL_START = '';

/** A record as a line of its own: JSON, sealed together with all lines before it. */
export function sealed(
  record: EvidenceRecord,
  previous: string,
): { readonly seal: string; readonly line: string } {
  const rest = JSON.stringify(record).slice(1);
  const seal = sealOf(rest, previous);
  return { seal, line: `${OPENING}${seal}${CLOSING}${rest}\n` };
}

/**
 * The seal of a line, and its JSON, if not one byte of it is other than it was written and it follows the line that
 * `previous` sealed. Null otherwise.
 */
export function openSeal(
  line: Buffer,
  previous: string,
): { readonly seal: string; readonly text: string } | null {
  const head = line.subarray(0, REST).toString('latin1');
  const rest = line.subarray(REST);
  const seal = sealOf(rest, previous);
  return head === `${OPENING}${seal}${CLOSING}` ? { seal, text: `{${rest.toString('utf8')}` } : null;
}

/** Over bytes, so that text which is not even UTF-8 cannot pass for other text. */
function sealOf(rest: string | Buffer, previous: string): string {
  return createHash('sha256').update(previous).update('\n').update(rest).digest('hex');
}
