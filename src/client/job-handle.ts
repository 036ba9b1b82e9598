import { PawlError } from '../errors.js';
import type { Job } from '../kernel/index.js';
import { awaitEnd } from '../engine/await-end.js';
import { toMs, type Duration } from '../engine/duration.js';
import type { Engine } from '../engine/engine.js';
import { toJsonText } from '../engine/json-text.js';
import * as is from '../engine/option-checks.js';
import { Options } from '../engine/options.js';
import { cancelJob } from '../engine/operator.js';
import { signalJob, type SignalAnswer } from '../engine/signal-job.js';
import { explain, type Explanation } from '../engine/why.js';
import type { Json } from '../worker/json.js';

export type ResultOptions = { readonly timeout?: Duration; readonly signal?: AbortSignal };

const RESULT = new Options<ResultOptions>({ timeout: is.duration, signal: is.object });
const CANCEL = new Options<{ reason?: string | null }>({ reason: is.orNull(is.text) });

/** A job that was started, from outside. */
export class JobHandle<R = unknown> {
  readonly id: string;
  readonly #engine: Engine;
  readonly #tenantId: string | null;

  constructor(engine: Engine, { jobId, tenantId }: { jobId: string; tenantId: string | null }) {
    this.#engine = engine;
    this.#tenantId = tenantId;
    this.id = jobId;
  }

  /** The result, once there is one. Throws JOB_FAILED, JOB_CANCELLED, or RESULT_TIMEOUT. */
  async result(options: ResultOptions = {}): Promise<Json<R>> {
    RESULT.expect(options, 'result()');
    const { timeout, signal } = options;
    const timeoutMs = timeout === undefined ? null : toMs(timeout, 'timeout');
    const job = await awaitEnd(this.#engine, this.id, { timeoutMs, ...(signal ? { signal } : {}) });
    if (job.status === 'succeeded') return JSON.parse(job.result ?? 'null') as Json<R>;
    throw endError(job);
  }

  /** Gives up on the job for good. */
  async cancel(options: { reason?: string | null } = {}): Promise<void> {
    CANCEL.expect(options, 'cancel()');
    const { reason = null } = options;
    await cancelJob(this.#engine, this.id, { tenantId: this.#tenantId, actor: 'client', reason });
  }

  /** Answers `delivered` if the job waited for it, `kept` if it may yet, `repeated` if this key came before. */
  async signal(key: string, payload: unknown = null): Promise<SignalAnswer> {
    const text = toJsonText(payload, `the payload of signal '${key}'`);
    return signalJob(this.#engine, { jobId: this.id, key, payload: text, tenantId: this.#tenantId });
  }

  /** The job as it stands. */
  async status(): Promise<Job> {
    const { found } = await this.#engine.store.load(this.id);
    if (found === null) throw new PawlError('JOB_NOT_FOUND', { detail: `there is no job ${this.id}` });
    return found.job;
  }

  /** What the job is waiting for, in one sentence. */
  why(): Promise<Explanation> {
    return explain(this.#engine, this.id);
  }
}

function endError({ spec, status, failure }: Job): PawlError {
  const { jobId, task } = spec;
  if (status === 'cancelled') {
    return new PawlError('JOB_CANCELLED', {
      detail: `job ${jobId} ('${task}') was cancelled`,
      details: { jobId },
    });
  }
  return new PawlError('JOB_FAILED', {
    detail: `job ${jobId} ('${task}') failed with ${failure?.code ?? 'no code'}: ${failure?.message ?? ''}`,
    details: { jobId, failure },
  });
}
