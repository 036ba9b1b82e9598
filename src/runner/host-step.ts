import { PawlError, toMs, type Clock, type Duration, type FullRecorder, type Steps } from '../index.js';
import { actionCommand, textsOf, wordsOf } from './action-command.js';
import { evaluate, isTrue, type Lookup } from './evaluate.js';
import { parseExpression } from './expression.js';
import { hostEffect, outcomeOrHappened, probeCommand } from './host-action.js';
import { hostCommand, type Outcome } from './host-command.js';
import type { Command } from './run-command.js';
import { renderDeep } from './template.js';
import { layered, type Variables } from './variables.js';
import { layersOf, type Host, type Step, type Workflow } from './workflow.js';

/** What a host has gathered on its way through the steps. */
export type HostState = {
  readonly host: Host;
  exported: Variables;
  env: Readonly<Record<string, string>>;
};

export type RunContext = {
  readonly workflow: Workflow;
  readonly files: Readonly<Record<string, string>>;
  readonly runId: string;
  readonly steps: Steps;
  readonly recorder: FullRecorder;
  readonly clock: Clock;
  /** When this run of the handler began, by the store's clock. */
  readonly claimedAt: () => Promise<number>;
  /** Variables that belong to the run, not to a host: what events brought. */
  readonly global: { exported: Variables };
};

export type HostEnd = {
  readonly status: 'success' | 'failed' | 'skipped';
  readonly message: string | null;
  readonly changed: boolean;
};

const SKIPPED: HostEnd = { status: 'skipped', message: null, changed: false };

/** One step on one host, with its loop and its retries. Never throws what the step itself got wrong: that is its result. */
export async function hostStep(context: RunContext, step: Step, state: HostState): Promise<HostEnd> {
  try {
    return await attempt(context, step, state);
  } catch (error) {
    return { status: 'failed', message: ownFailure(error), changed: true };
  }
}

async function attempt(context: RunContext, step: Step, state: HostState): Promise<HostEnd> {
  const { workflow, global, runId } = context;
  const { host } = state;
  const layers = layersOf(workflow, host);
  const about = { name: host.name, address: host.address, user: host.user, groups: host.groups };
  const values = { ...global.exported, ...state.exported, host: about, run_id: runId };
  const lookup = layered(layers, values);
  const missing = step.mustVars.filter((name) => (lookup(name) ?? null) === null);
  if (missing.length > 0)
    return { status: 'failed', message: `must have ${missing.join(', ')}`, changed: false };
  const items = step.loop === null ? [null] : itemsOf(step.loop, lookup);
  let end = SKIPPED;
  for (const [n, item] of items.entries()) {
    const own = step.loop === null ? lookup : layered(layers, { ...values, item });
    if (step.when !== null && !isTrue(evaluate(parseExpression(step.when), own))) continue;
    const name = `${step.name}@${host.name}${step.loop === null ? '' : `[${n}]`}`;
    const outcome = await tries(context, { step, state, name, lookup: own });
    if (!outcome.ok) return { status: 'failed', message: outcome.message, changed: outcome.changed };
    exportTo(state, step, { lookup: own, outcome });
    end = { status: 'success', message: null, changed: end.changed || outcome.changed };
  }
  const unset =
    end.status === 'skipped' ? [] : step.expectVars.filter((name) => !isSet(state.exported, name));
  return unset.length === 0
    ? end
    : { status: 'failed', message: `has not set ${unset.join(', ')}`, changed: end.changed };
}

/** A variable may have any name, `constructor` among them. */
const isSet = (exported: Variables, name: string): boolean =>
  Object.hasOwn(exported, name) && exported[name] !== null && exported[name] !== undefined;

type One = { readonly step: Step; readonly state: HostState; readonly name: string; readonly lookup: Lookup };

/** A failure that is known is tried again as often as the step says; each try is a step of its own in the job. */
async function tries(context: RunContext, { step, state, name, lookup }: One): Promise<Outcome> {
  for (let n = 1; ; n++) {
    const own = n === 1 ? name : `${name} try ${n}`;
    const outcome = await act(context, { step, state, name: own, lookup }).catch(failedOutcome);
    if (outcome.ok || n > step.retries) return outcome;
    context.recorder.progress({
      step: step.name,
      host: state.host.name,
      message: `${outcome.message ?? 'failed'}; try ${n + 1} of ${step.retries + 1} follows`,
    });
    await context.steps.sleep(`${own} pause`, step.retryDelayMs);
  }
}

async function act(context: RunContext, { step, state, name, lookup }: One): Promise<Outcome> {
  const { files, recorder, clock, claimedAt, runId, steps } = context;
  const { host } = state;
  const args = withContent(renderDeep(step.args, lookup) as Variables, { files, lookup });
  if (step.action === 'env.set') {
    state.env = { ...state.env, ...textsOf(args) };
    return { ok: true, changed: false, exit: null, message: null, stdout: '' };
  }
  const command = actionCommand(step, args, { files, env: state.env });
  const onOutput = (text: string): void => recorder.output({ step: step.name, host: host.name, text });
  if (step.action === 'template.render') {
    const wrote = await steps.run(name, ({ signal }) =>
      hostCommand(host, command, { clock, signal, onOutput }),
    );
    return { ...wrote, changed: wrote.stdout.trim() === 'changed' };
  }
  if (step.action === 'wait.until') {
    const begunAt = await steps.now();
    const everyMs = toMs((args['every'] ?? '1s') as Duration, 'every');
    const onNo = (message: string): void => recorder.progress({ step: step.name, host: host.name, message });
    return steps.run(name, async ({ signal }) => {
      // After a crash it has the rest of its time, not all of it once more: what passed until then is known by the store's clock.
      const leftMs = step.timeoutMs - Math.max(0, (await claimedAt()) - begunAt);
      return poll(clock, { host, command, leftMs, everyMs, signal, onNo });
    });
  }
  const probe = step.probe && probeCommand(wordsOf(renderDeep(step.probe, lookup)), command);
  const doing = hostEffect(step, { clock, recorder, runId });
  return outcomeOrHappened(await steps.effect(name, doing, { step: step.name, host, command, probe }));
}

function failedOutcome(error: unknown): Outcome {
  return { ok: false, changed: true, exit: null, message: ownFailure(error), stdout: '' };
}

type Poll = {
  readonly host: Host;
  readonly command: Command;
  readonly leftMs: number;
  readonly everyMs: number;
  readonly signal: AbortSignal;
  readonly onNo: (message: string) => void;
};

/** Asks again and again until the answer is yes. A question changes nothing, so it may be asked anew after a crash. */
async function poll(clock: Clock, { host, command, leftMs, everyMs, signal, onNo }: Poll): Promise<Outcome> {
  const until = clock.elapsed() + leftMs;
  for (;;) {
    const timeoutMs = Math.max(1, Math.ceil(until - clock.elapsed()));
    const asked = { ...command, timeoutMs };
    const outcome = await hostCommand(host, asked, { clock, signal, onOutput: () => undefined }).catch(
      (error: unknown) => {
        // A connection that is lost is no answer, and so no yes; but one who is stopped asks no more.
        if (signal.aborted) throw error;
        return failedOutcome(error);
      },
    );
    if (outcome.ok) return { ...outcome, changed: false };
    const message = outcome.message ?? '';
    if (clock.elapsed() + everyMs >= until)
      return { ...outcome, changed: false, message: `not in time: ${message}` };
    onNo(message);
    await new Promise<void>((resolve) => void clock.after(everyMs, resolve));
    signal.throwIfAborted();
  }
}

/** What the workflow or a host got wrong, in words. What is wrong with the job itself is not theirs, and goes on. */
export function ownFailure(error: unknown): string {
  const isOurs = error instanceof PawlError && !['EFFECT_UNKNOWN', 'STEP_TIMEOUT'].includes(error.code);
  if (isOurs || !(error instanceof Error)) throw error;
  return error.message;
}

/** The text of a template comes from its file, or from the workflow itself, and has the host's variables. */
function withContent(
  args: Variables,
  { files, lookup }: { files: Readonly<Record<string, string>>; lookup: Lookup },
): Variables {
  const { src } = args;
  return typeof src === 'string' ? { ...args, content: renderDeep(files[src] ?? '', lookup) } : args;
}

function itemsOf(loop: unknown, lookup: Lookup): unknown[] {
  const items = renderDeep(loop, lookup);
  if (Array.isArray(items)) return items;
  throw new Error('what the loop goes over is no list');
}

function exportTo(
  state: HostState,
  step: Step,
  { lookup, outcome }: { lookup: Lookup; outcome: Outcome },
): void {
  const result = { stdout: outcome.stdout.trimEnd(), exit: outcome.exit, changed: outcome.changed };
  const withResult: Lookup = (name) => (name === 'result' ? result : lookup(name));
  state.exported = { ...state.exported, ...(renderDeep(step.exports, withResult) as Variables) };
}
