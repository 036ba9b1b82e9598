import { childIdOf, childStart } from '../../engine/child-mail.js';
import { OWN_SCOPE } from '../../engine/new-job.js';
import { sha256 } from '../../engine/sha256.js';
import {
  canonicalJson,
  decide,
  NO_STEPS,
  type CommandOf,
  type Job,
  type JobSpec,
} from '../../kernel/index.js';
import type { Identity, NewOutboxEntry } from '../../ports/store.js';
import type { Caller } from '../route.js';
import { expectPayload, invalid } from './worker-commands.js';

/** A job that a remote application starts is its own tenant's, and comes from nothing but this start. */
export function expectOwnStart({ spec, input }: CommandOf<'create'>, { tenantId }: Caller): void {
  if (spec.tenantId !== tenantId) throw invalid('spec.tenantId', 'is not the tenant of the key');
  if (spec.parent !== null) throw invalid('spec.parent', 'is only for the children of a job');
  if (spec.continues !== null) throw invalid('spec.continues', 'is only for what is requeued');
  expectPlain(spec, input);
}

/** Which names the job takes: those that it says, whatever else was sent. */
export function identitiesOf({
  jobId,
  tenantId,
  idempotencyKey,
  idempotencyScope,
  taskId,
}: JobSpec): Identity[] {
  const identities: Identity[] = [];
  if (idempotencyKey !== jobId) {
    identities.push({ tenantId, kind: 'key', value: JSON.stringify([idempotencyScope, idempotencyKey]) });
  }
  if (taskId !== jobId) identities.push({ tenantId, kind: 'task_id', value: taskId });
  return identities;
}

/** A child as a worker says that it is to be. */
export type Offspring = { readonly spec: unknown; readonly input: string };

/** Sends a child on its way, if it is the one that the step starts: with the parent's tenant and trace, under its one id. */
export function childOf(
  parent: Job,
  { wait, child, now, actor }: CommandOf<'start-child'>,
  { offspring, continues }: { offspring: readonly Offspring[]; continues: JobSpec['continues'] },
): NewOutboxEntry {
  const own = offspring.find(({ spec }) => (spec as Partial<JobSpec> | null)?.jobId === child.childId);
  if (own === undefined) throw invalid('children', 'lacks the child of a step');
  const { input } = own;
  const spec = own.spec as JobSpec;
  expectPayload(input, 'the input of a child');
  // Past its deadline it is still sent: whoever delivers it tells its parent that it could not be started.
  const decision = decide(null, { type: 'create', now, actor, spec, input }, NO_STEPS);
  if (!decision.ok && decision.details['field'] !== 'spec.deadlineAt') {
    throw invalid('children', `holds no child that can be started (${decision.code})`);
  }
  const { step, occurrence } = wait;
  const { jobId, tenantId, traceId } = parent.spec;
  const isOwn =
    spec.jobId === childIdOf(parent, wait) &&
    spec.tenantId === tenantId &&
    spec.traceId === traceId &&
    spec.task === child.task &&
    spec.inputHash === child.inputHash &&
    spec.taskId === spec.jobId &&
    spec.idempotencyKey === spec.jobId &&
    spec.parent?.jobId === jobId &&
    spec.parent.step === step &&
    spec.parent.occurrence === occurrence;
  if (!isOwn) throw invalid('children', 'holds another child than the step starts');
  expectPlain(spec, input);
  return childStart({ ...spec, continues }, input, now);
}

/** What only schedules, requeues and runs of a task in turn may say. */
function expectPlain(spec: JobSpec, input: string): void {
  if (spec.firedBy !== null) throw invalid('spec.firedBy', 'is only for schedules');
  if (spec.requeuedFrom !== null) throw invalid('spec.requeuedFrom', 'is only for the dead-letter queue');
  if (spec.attemptBase !== 0) throw invalid('spec.attemptBase', 'is only for runs of a task');
  if (spec.idempotencyScope?.startsWith(OWN_SCOPE))
    throw invalid('spec.idempotencyScope', 'is only for runs of a task');
  if (spec.scheduleType !== 'at') throw invalid('spec.scheduleType', 'is only for schedules');
  if (spec.inputHash !== sha256(canonicalJson(input)))
    throw invalid('spec.inputHash', 'is not of this input');
}
