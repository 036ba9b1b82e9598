import type { RunState, StepState } from '../contracts/index.js';

export type ErrorSummary = { readonly code: string; readonly message: string };

export type StepStart = { readonly step: string; readonly message?: string | null };
export type HostStart = { readonly step: string; readonly host: string };
export type StepFinish = {
  readonly step: string;
  readonly status: Exclude<StepState, 'running'>;
  readonly message?: string | null;
  readonly error?: ErrorSummary | null;
};
export type HostResult = StepFinish & { readonly host: string };
export type HostOutput = { readonly step: string; readonly host: string; readonly text: string };
/** How far it is, in a few words. `host` null: the step as a whole. */
export type HostProgress = { readonly step: string; readonly host: string | null; readonly message: string };
export type RunFinish = {
  readonly status: Exclude<RunState, 'queued' | 'running'>;
  readonly message?: string | null;
  readonly error?: ErrorSummary | null;
};

/**
 * Hears what a run does, as it does it. Whoever executes tells; a recorder makes of it what it likes, and never holds the run
 * up. It may leave out what it does not care for.
 */
export interface Recorder {
  stepStart?(event: StepStart): void;
  hostStart?(event: HostStart): void;
  output?(event: HostOutput): void;
  progress?(event: HostProgress): void;
  hostResult?(event: HostResult): void;
  stepFinish?(event: StepFinish): void;
  runFinish?(event: RunFinish): void;
}
