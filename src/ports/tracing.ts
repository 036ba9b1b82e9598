/** Which execution of which job a span is about. */
export type TracedJob = {
  readonly id: string;
  readonly task: string;
  readonly queue: string;
  readonly tenantId: string;
  readonly attempt: number;
  /** The W3C trace context of whoever started the job. */
  readonly traceparent: string | null;
};

/** What became of an execution. */
export type TracedOutcome = { readonly status: string; readonly error: string | null };

/** A span that an execution runs in. */
export type ExecutionSpan = {
  /** Runs a function so that spans which it begins are children of this one. */
  readonly within: <T>(run: () => T) => T;
  readonly end: (outcome: TracedOutcome) => void;
};

/**
 * Tells a tracing system of executions. Each is a short trace of its own, linked to where the job came from: a job may
 * wait for weeks, and a trace that stays open so long is of no use to anyone.
 */
export interface Tracing {
  /** The trace context of whoever calls, as a `traceparent`; null outside of any. */
  origin(): string | null;
  execution(job: TracedJob): ExecutionSpan;
}
