import { PawlError } from '../errors.js';
import { isLegal } from './machine.js';
import { runState, type RunSnapshot, type RunSummary } from './run-state.js';
import type { HostSnapshot, StepSnapshot } from './run-state-steps.js';

type Changes<T> = { readonly [K in keyof T]?: T[K] };

/** What has changed about a run: only that. Steps and hosts are named; those that are not there yet are added. */
export type RunPatch = Changes<Omit<RunSummary, 'run_id' | 'workflow_name' | 'version' | 'updated_at'>> & {
  readonly run_id: string;
  readonly updated_at: string;
  readonly steps?: readonly StepPatch[];
};

export type StepPatch = Changes<Omit<StepSnapshot, 'name' | 'hosts'>> & {
  readonly name: string;
  readonly hosts?: Readonly<Record<string, HostPatch>>;
};

export type HostPatch = Changes<HostSnapshot>;

const NEW_HOST: HostSnapshot = {
  status: 'running',
  started_at: null,
  finished_at: null,
  message: null,
  output: null,
  output_truncated: false,
};

/**
 * The snapshot after a change, one version on. Every store of run states asks this, so that all refuse the same: a status
 * that does not follow from the one before, and any change to a run that has ended. Only what is found out later about an
 * interrupted run may still be added. Throws INVALID_TRANSITION; the snapshot is never changed in place.
 */
export function applyRunPatch(snapshot: RunSnapshot, patch: RunPatch): RunSnapshot {
  expectLegal(snapshot, patch);
  const { run_id: _id, steps = [], ...changes } = patch;
  return {
    ...snapshot,
    ...defined(changes),
    version: snapshot.version + 1,
    steps: steps.length === 0 ? snapshot.steps : applySteps(snapshot.steps, steps),
  };
}

/** A run as it is created: version 1, and nothing done yet. */
export function newRun({
  run_id,
  workflow_name,
  at,
}: {
  run_id: string;
  workflow_name: string;
  at: string;
}): RunSnapshot {
  return {
    run_id,
    workflow_name,
    status: 'queued',
    message: null,
    last_error: null,
    interrupted_reason: null,
    version: 1,
    started_at: null,
    finished_at: null,
    updated_at: at,
    reconciliation: null,
    steps: [],
  };
}

/** The same without the steps. */
export function runSummary({ steps: _steps, ...summary }: RunSnapshot): RunSummary {
  return summary;
}

/** Nothing follows any more. */
export function hasEnded(status: RunSnapshot['status']): boolean {
  return !runState.machine.edges.some(({ from }) => from === status);
}

function expectLegal(snapshot: RunSnapshot, patch: RunPatch): void {
  const { run_id, status: from } = snapshot;
  const to = patch.status ?? from;
  const refuse = (why: string): PawlError =>
    new PawlError('INVALID_TRANSITION', { detail: `run ${run_id} ${why}`, details: { from, to } });
  if (!isLegal(runState.machine, from, to)) throw refuse(`is ${from}, from which ${to} does not follow`);
  if (patch.reconciliation !== undefined) {
    if (from !== 'interrupted') throw refuse(`is ${from}: only an interrupted run is reconciled`);
    const { run_id: _id, updated_at: _at, reconciliation: _found, ...others } = patch;
    if (Object.keys(defined(others)).length === 0) return;
  }
  if (hasEnded(from)) throw refuse(`has ended as ${from}, and nothing of it changes any more`);
}

function applySteps(before: readonly StepSnapshot[], patches: readonly StepPatch[]): StepSnapshot[] {
  const steps = new Map(before.map((step) => [step.name, step]));
  for (const { hosts = {}, ...patch } of patches) {
    const step = steps.get(patch.name) ?? newStep(patch.name);
    steps.set(patch.name, { ...step, ...defined(patch), hosts: applyHosts(step.hosts, hosts) });
  }
  return [...steps.values()];
}

/** A host may have any name, `__proto__` among them. */
function applyHosts(
  before: StepSnapshot['hosts'],
  patches: Readonly<Record<string, HostPatch>>,
): StepSnapshot['hosts'] {
  const changed = Object.entries(patches);
  if (changed.length === 0) return before;
  const hosts = new Map(Object.entries(before));
  for (const [name, patch] of changed)
    hosts.set(name, { ...(hosts.get(name) ?? NEW_HOST), ...defined(patch) });
  return Object.fromEntries(hosts);
}

function newStep(name: string): StepSnapshot {
  return { name, status: 'running', started_at: null, finished_at: null, message: null, hosts: {} };
}

/** A member that is there and undefined means the same as one that is not. */
function defined<T extends object>(changes: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) as never;
}
