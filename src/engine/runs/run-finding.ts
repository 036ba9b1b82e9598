import {
  findingCallback,
  runState,
  utc,
  type Reconciliation,
  type RunSnapshot,
} from '../../contracts/index.js';
import { PawlError } from '../../errors.js';
import type { Job, Timestamp } from '../../kernel/index.js';
import type { RecordRef } from '../../ports/store.js';
import { recordAudit } from '../audit.js';
import type { Engine } from '../engine.js';
import { invalidOption } from '../options.js';

export type RunFinding = Omit<Reconciliation, 'at'>;

/** `jobCreatedAt`: of which job, should another ever get its id. */
type Kept = Reconciliation & { readonly jobCreatedAt: Timestamp };

const MOST_TEXT = 1_000;
const PAGE = 200;

/**
 * Records what was found out later about an interrupted run that nobody tracks. Nothing is added to the log of a job that has ended: it
 * is the evidence of what happened until then. So a finding is kept beside it, and counts as one more version of the run. Found again,
 * the later finding counts. Throws INVALID_TRANSITION for a run that is not interrupted.
 */
export async function reconcileJob(engine: Engine, job: Job, finding: RunFinding): Promise<void> {
  expectSound(finding);
  expectInterrupted(job);
  const { outcome, reason, actor } = finding;
  const { jobId, tenantId } = job.spec;
  const ref = refOf(job);
  await engine.subscriptions.refreshIfStale();
  for (;;) {
    const { record: before } = await engine.store.record(ref);
    const expected = before?.version ?? 0;
    const now = engine.now();
    const at = utc(now);
    const kept: Kept = { outcome, reason, actor, at, jobCreatedAt: job.createdAt };
    const put = { ...ref, version: expected + 1, body: JSON.stringify(kept) };
    const told = findingCallback(job, { at, version: job.rev + put.version });
    const mail = engine.subscriptions.findingLetters(job.spec, told);
    const { saved } = await engine.store.putRecord(put, expected, mail);
    // A store whose answer was lost is asked again, and then says that it was overtaken, by what it had saved before.
    if (!saved && (await engine.store.record(ref)).record?.body !== put.body) continue;
    engine.announceMail(mail);
    const entry = { tenantId, action: 'reconcile_run', subject: jobId, by: actor, at: now, reason };
    await recordAudit(engine, entry, { of: `${jobId}#finding#${put.version}` });
    return;
  }
}

/** The run with what was found out about it, if something was. */
export async function withFinding(engine: Engine, job: Job, run: RunSnapshot): Promise<RunSnapshot> {
  if (run.status !== 'interrupted') return run;
  const { record } = await engine.store.record(refOf(job));
  if (record === null) return run;
  const { jobCreatedAt, ...reconciliation } = JSON.parse(record.body) as Kept;
  if (jobCreatedAt !== job.createdAt) return run;
  return { ...run, version: run.version + record.version, updated_at: reconciliation.at, reconciliation };
}

/** Findings go with their jobs. They are made by hand, and so are few. */
export async function forgetFindings(engine: Engine): Promise<void> {
  for (let after: { tenantId: string; id: string } | null = null; ;) {
    const { records } = await engine.store.records({ kind: 'finding', tenantId: null, after, limit: PAGE });
    for (const { kind, tenantId, id } of records) {
      // A job that cannot be read is still there.
      if ((await engine.store.log(id, { fromRev: 1, limit: 1 })).rows.length > 0) continue;
      await engine.store.deleteRecord({ kind, tenantId, id });
    }
    after = records.at(-1) ?? null;
    if (records.length < PAGE) return;
  }
}

function expectInterrupted(job: Job): void {
  const status = runState.project(job);
  if (status === 'interrupted') return;
  throw new PawlError('INVALID_TRANSITION', {
    detail: `run ${job.spec.jobId} is ${status}: only an interrupted run is reconciled`,
    details: { from: status, to: status },
  });
}

function expectSound(finding: RunFinding): void {
  for (const option of ['outcome', 'reason', 'actor'] as const) {
    const value: unknown = finding[option];
    if (typeof value !== 'string' || value.trim() === '') throw invalidOption(option, `${option} is missing`);
    if (value.length > MOST_TEXT)
      throw invalidOption(
        option,
        `${option} has ${value.length} characters, which is more than ${MOST_TEXT}`,
      );
  }
}

function refOf({ spec: { tenantId, jobId } }: Job): RecordRef {
  return { kind: 'finding', tenantId, id: jobId };
}
