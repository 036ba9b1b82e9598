import { hostStep, ownFailure, type HostEnd, type HostState, type RunContext } from './host-step.js';
import { inParallel } from './in-parallel.js';
import { evaluate, isTrue } from './evaluate.js';
import { parseExpression } from './expression.js';
import { renderDeep, textOf } from './template.js';
import { layered, type Variables } from './variables.js';
import { isForRun, waitKeyOf, type Step } from './workflow.js';

export type RunEnd = {
  readonly status: 'success' | 'failed';
  readonly message: string | null;
  /** What the workflow exports, by host. */
  readonly exported: Readonly<Record<string, Variables>>;
};

/** Carries out a workflow: its steps in order, each on its hosts in parallel, then the handlers that were notified. */
export async function runWorkflow(context: RunContext, { parallel }: { parallel: number }): Promise<RunEnd> {
  const { workflow } = context;
  const states = new Map([...workflow.hosts.values()].map((host) => [host.name, newState(host)]));
  const notified = new Map<string, Set<string>>();
  for (const step of workflow.steps) {
    const failure = isForRun(step.action)
      ? await runStep(context, step)
      : await hostsStep(context, step, { states, parallel, notified, hosts: step.hosts });
    if (failure !== null) return { status: 'failed', message: failure, exported: exportsOf(context, states) };
  }
  for (const handler of workflow.handlers) {
    const hosts = handler.hosts.filter((host) => notified.get(handler.name)?.has(host));
    if (hosts.length === 0) continue;
    const failure = await hostsStep(context, handler, { states, parallel, notified, hosts });
    if (failure !== null) return { status: 'failed', message: failure, exported: exportsOf(context, states) };
  }
  return { status: 'success', message: null, exported: exportsOf(context, states) };
}

type States = ReadonlyMap<string, HostState>;
type Across = {
  readonly states: States;
  readonly parallel: number;
  readonly notified: Map<string, Set<string>>;
  readonly hosts: readonly string[];
};

/** Null if the run goes on; else why it does not. */
async function hostsStep(
  context: RunContext,
  step: Step,
  { states, parallel, notified, hosts }: Across,
): Promise<string | null> {
  const { recorder } = context;
  recorder.stepStart({ step: step.name });
  const ends = await inParallel(hosts, parallel, async (name): Promise<HostEnd> => {
    recorder.hostStart({ step: step.name, host: name });
    const end = await hostStep(context, step, states.get(name) as HostState);
    const error =
      end.status === 'failed' ? { code: 'STEP_FAILED', message: failureOf(step, name, end) } : null;
    recorder.hostResult({ step: step.name, host: name, status: end.status, message: end.message, error });
    if (end.status === 'success' && end.changed) {
      for (const handler of step.notify)
        notified.set(handler, (notified.get(handler) ?? new Set()).add(name));
    }
    return end;
  });
  const failed = hosts.filter((_name, n) => ends[n]?.status === 'failed');
  const [first] = failed;
  const message = first === undefined ? null : `failed on ${failed.length} of ${hosts.length} hosts`;
  const skipped = ends.length > 0 && ends.every(({ status }) => status === 'skipped');
  const status = first !== undefined ? 'failed' : skipped ? 'skipped' : 'success';
  recorder.stepFinish({ step: step.name, status, message });
  if (first === undefined || step.continueOnError) return null;
  const end = ends.find(({ status: of }) => of === 'failed');
  return `${failureOf(step, first, end)}${failed.length > 1 ? `, and on ${failed.length - 1} more hosts` : ''}`;
}

function failureOf(step: Step, host: string, end: HostEnd | undefined): string {
  return `step '${step.name}' failed on ${host}: ${end?.message ?? 'for no reason that is known'}`;
}

type WaitEnd = { readonly status: 'success' | 'failed' | 'skipped'; readonly message: string | null };

/** Null if the run goes on; else why it does not. What the step itself got wrong is its result, as on a host. */
async function runStep(context: RunContext, step: Step): Promise<string | null> {
  const { status, message } = await waited(context, step).catch((error: unknown): WaitEnd => ({
    status: 'failed',
    message: ownFailure(error),
  }));
  const failure = message === null ? null : `step '${step.name}': ${message}`;
  const error = failure === null ? null : { code: 'STEP_FAILED', message: failure };
  context.recorder.stepFinish({ step: step.name, status, message, error });
  return step.continueOnError ? null : failure;
}

/** A wait for somebody, once for the whole run. It holds no process: the job goes on when the event has come. */
async function waited(
  { workflow, recorder, steps, runId, global }: RunContext,
  step: Step,
): Promise<WaitEnd> {
  const lookup = layered([workflow.vars], { ...global.exported, run_id: runId });
  if (step.when !== null && !isTrue(evaluate(parseExpression(step.when), lookup))) {
    return { status: 'skipped', message: null };
  }
  const args = renderDeep(step.args, lookup) as Variables;
  const isApproval = step.action === 'wait.approval';
  const key = waitKeyOf(step);
  const reason = textOf(args['reason'] ?? step.name);
  const how = `pawl jobs signal ${runId} ${key} '${isApproval ? 'true' : '{}'}'`;
  recorder.stepStart({ step: step.name, message: `waits for ${key} (${reason}): ${how}` });
  const waiting = { reason, kind: isApproval ? 'approval' : 'signal' } as const;
  const event = Number.isFinite(step.timeoutMs)
    ? await steps.waitFor(key, { ...waiting, timeout: step.timeoutMs })
    : await steps.waitFor(key, waiting);
  if (event === undefined) return { status: 'failed', message: `nobody sent ${key} in time` };
  if (isApproval && !isTrue(approvalOf(event))) return { status: 'failed', message: `${key} was refused` };
  const withEvent = (name: string): unknown => (name === 'event' ? event : lookup(name));
  global.exported = { ...global.exported, ...(renderDeep(step.exports, withEvent) as Variables) };
  return { status: 'success', message: null };
}

/** `true`, or an object that says `approved`. */
function approvalOf(event: unknown): unknown {
  return event !== null && typeof event === 'object' && 'approved' in event ? event.approved : event;
}

function newState(host: HostState['host']): HostState {
  return { host, exported: {}, env: {} };
}

function exportsOf({ workflow, global }: RunContext, states: States): Record<string, Variables> {
  const of = (values: Variables): Variables =>
    Object.fromEntries(
      workflow.exports.flatMap((name) => (Object.hasOwn(values, name) ? [[name, values[name]]] : [])),
    );
  return Object.fromEntries(
    [...states].map(([name, { exported }]) => [name, of({ ...global.exported, ...exported })]),
  );
}
