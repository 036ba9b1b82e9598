/** What a handler knows about the job that it runs. */
export type JobInfo = {
  readonly id: string;
  /** The name of its task. */
  readonly task: string;
  readonly queue: string;
  readonly taskId: string;
  readonly tenantId: string;
  readonly traceId: string;
  readonly traceparent: string | null;
  /** From 1. */
  readonly attempt: number;
  readonly retryCount: number;
  /** The key of this execution: job and retry count. Effects have keys of their own, which no retry changes. */
  readonly executionKey: string;
  readonly createdAt: number;
};
