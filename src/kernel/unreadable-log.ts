import { decodeEvents, type Decoded } from './decode-events.js';
import type { Event } from './event.js';
import { InvariantViolation } from './invariant-violation.js';

/** A row of a job's log is damaged, or of a later release. */
export class UnreadableLog extends InvariantViolation {
  readonly code: Extract<Decoded, { ok: false }>['code'];
  readonly jobId: string;

  constructor(
    { jobId, rev }: { jobId: string; rev: number },
    { code, problem }: Pick<UnreadableLog, 'code'> & { problem: string },
  ) {
    super(`${code} at ${jobId}/${rev}: ${problem}`);
    this.code = code;
    this.jobId = jobId;
  }
}

/** What a row of a log says. */
export function eventsOf(row: {
  readonly jobId: string;
  readonly rev: number;
  readonly body: string;
}): readonly Event[] {
  const decoded = decodeEvents(row.body);
  if (!decoded.ok) throw new UnreadableLog(row, decoded);
  return decoded.events;
}
