import { ERASED_PREFIX } from './payload.js';

/** A cryptographic hash of a text, as text. Injected: hashing stands outside `decide` and `evolve`. */
export type Hash = (text: string) => string;

/** What a link covers: the key of the log row, the command that wrote it, and its encoded events. */
export type ChainedRow = {
  readonly jobId: string;
  readonly rev: number;
  readonly commandId: string | null;
  /** As `encodeEvents` wrote it: a header line and one line for each payload. */
  readonly body: string;
};

/** What stands before the first link. */
export const CHAIN_START = '';

/**
 * The link of a log row to the one before it. It covers payloads by their digests only, so a payload can move
 * elsewhere or be erased (its line then holds the digest) and the chain still holds.
 */
export function chainLink(hash: Hash, previous: string, { jobId, rev, commandId, body }: ChainedRow): string {
  let end = body.indexOf('\n');
  const header = end < 0 ? body : body.slice(0, end);
  let covered = `${previous} ${rev} ${sized(jobId)} ${sized(commandId)}\n${header}`;
  while (end >= 0) {
    const start = end + 1;
    end = body.indexOf('\n', start);
    const line = end < 0 ? body.slice(start) : body.slice(start, end);
    covered += `\n${line.startsWith(ERASED_PREFIX) ? line.slice(ERASED_PREFIX.length) : hash(line)}`;
  }
  return hash(covered);
}

/** A text with its length cannot be taken for two others, whatever it holds. Quoting took a third of a link's time (bench/store). */
const sized = (text: string | null): string => (text === null ? '-' : `${text.length}:${text}`);

/** A row whose payloads are gone, and whose link is what it was. */
export function erasePayloads(hash: Hash, body: string): string {
  const [header, ...payloads] = body.split('\n');
  const erased = payloads.map((line) => (line.startsWith(ERASED_PREFIX) ? line : ERASED_PREFIX + hash(line)));
  return [header, ...erased].join('\n');
}

export type ChainHead = { readonly rev: number; readonly link: string };

/**
 * Checks a job's log from its first row on. Null if it holds; else the revision of the first row that does not.
 * `head` is what the last row must be: without it, rows cut off at the end would go unnoticed.
 */
export function findBrokenLink(
  hash: Hash,
  rows: readonly (ChainedRow & { readonly link: string })[],
  head: ChainHead,
): { readonly rev: number; readonly problem: 'missing' | 'altered' } | null {
  let previous = CHAIN_START;
  for (const [index, row] of rows.entries()) {
    if (row.rev !== index + 1) return { rev: index + 1, problem: 'missing' };
    previous = chainLink(hash, previous, row);
    if (previous !== row.link) return { rev: row.rev, problem: 'altered' };
  }
  if (rows.length < head.rev) return { rev: rows.length + 1, problem: 'missing' };
  return previous === head.link ? null : { rev: rows.length, problem: 'altered' };
}
