import type { Store } from '../ports/store.js';
import type { Aim, Fault } from './faults.js';

/** Calls that change something. A claim counts among them, if it found something. */
const WRITES: ReadonlySet<string> = new Set<keyof Store>([
  'commit',
  'putEffect',
  'putMessage',
  'settleOutbox',
  'putSchedule',
  'putDlqItem',
  'purge',
]);

/** Calls on whose answers somebody decides what to do next. */
const READS: ReadonlySet<string> = new Set<keyof Store>([
  'load',
  'log',
  'effects',
  'inbox',
  'list',
  'dlqItem',
  'schedule',
]);

/** Rounds that mostly find nothing; those that do count, and what they found is in this field of the reply. */
const FINDS: Readonly<Record<string, readonly [aim: Aim, field: string]>> = {
  claim: ['write', 'jobs'],
  orphans: ['read', 'jobs'],
  unread: ['read', 'jobIds'],
  due: ['read', 'jobIds'],
  takeOutbox: ['read', 'entries'],
  dueSchedules: ['read', 'schedules'],
} satisfies Partial<Record<keyof Store, readonly [Aim, string]>>;

/** What a call counts as when it arrives; null: nothing, or not yet. */
export function aimOf(name: string): Aim | null {
  if (name === 'beat') return 'beat';
  return WRITES.has(name) ? 'write' : READS.has(name) ? 'read' : null;
}

/** What a call counts as once it was executed, and was not counted before. */
export function aimOfReply(name: string, reply: unknown): Aim | null {
  const [aim, field] = FINDS[name] ?? [];
  if (aim === undefined || field === undefined) return null;
  const found = (reply as Readonly<Record<string, readonly unknown[] | undefined>>)[field] ?? [];
  return found.length > 0 ? aim : null;
}

/** The faults of a plan, as calls are counted off against them: each kind of call by itself. */
export class Strikes {
  readonly #calls: Record<Aim, number> = { write: 0, beat: 0, read: 0 };
  #faults: Readonly<Record<Aim, readonly Fault[]>>;

  constructor(faults: readonly Fault[]) {
    const aimedAt = (aim: Aim) => faults.filter(({ at = 'write' }) => at === aim);
    this.#faults = { write: aimedAt('write'), beat: aimedAt('beat'), read: aimedAt('read') };
  }

  /** What strikes the next call of this kind; null: nothing. */
  next(aim: Aim): Fault | null {
    this.#calls[aim] += 1;
    const [next] = this.#faults[aim];
    if (next === undefined || next.nth > this.#calls[aim]) return null;
    this.#faults = { ...this.#faults, [aim]: this.#faults[aim].slice(1) };
    return next;
  }

  end(): void {
    this.#faults = { write: [], beat: [], read: [] };
  }
}
