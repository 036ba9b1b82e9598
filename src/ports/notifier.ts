import type { RunCallback } from '../contracts/index.js';

/** Whom a run tells of its changes. It never holds the run up: what it throws is tried again, then logged and let go. */
export interface Notifier {
  /** How much it wants to hear: of the run itself, unless it says otherwise; of steps too; or of hosts as well. */
  readonly detail?: 'run' | 'step' | 'host';
  notify(change: RunCallback): void | Promise<void>;
}
