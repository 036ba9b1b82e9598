import * as is from '../engine/option-checks.js';
import { invalidOption, Options, shown } from '../engine/options.js';
import type { CallOptions } from './call-step.js';
import type { EffectDefinition } from './effect-definition.js';
import type { StepOptions } from './run-step.js';
import type { Callable, Enterable, WaitOptions } from './steps.js';
import type { TaskDefinition } from './task-definition.js';

/** What handlers say to their steps, looked at before anything comes of it. */
const RUN = new Options<StepOptions>({ timeout: is.duration, retry: is.elsewhere });
const WAIT = new Options<WaitOptions>({
  timeout: is.duration,
  reason: is.text,
  kind: is.oneOf('signal', 'approval', 'message'),
});
const CALL = new Options<CallOptions>({
  delay: is.duration,
  queue: is.elsewhere,
  priority: is.elsewhere,
  deadline: is.duration,
});

export function expectRun(name: string, body: unknown, options: StepOptions | undefined): void {
  expectBody(name, body);
  if (options !== undefined) RUN.expect(options, `step '${name}'`);
}

export function expectBody(name: string, body: unknown): void {
  if (typeof body === 'function') return;
  throw invalidOption('body', `the body of step '${name}' is ${shown(body)}, which is no function`);
}

export function expectWait(key: string, options: WaitOptions): void {
  WAIT.expect(options, `waitFor('${key}')`);
}

/** The task that is called. */
export function calledTask(
  name: string,
  task: Callable<unknown, unknown>,
  options: CallOptions,
): TaskDefinition {
  CALL.expect(options, `step '${name}'`);
  const definition: Partial<TaskDefinition> | undefined = task?.definition;
  if (typeof definition?.readInput === 'function') return task.definition;
  throw invalidOption('task', `step '${name}' calls ${shown(task)}, which was not made by task()`);
}

/** The effect that is entered. */
export function enteredEffect(name: string, effect: Enterable<unknown, unknown>): EffectDefinition {
  const definition: Partial<EffectDefinition> | undefined = effect?.definition;
  if (typeof definition?.run === 'function' && definition.onUnknown !== undefined) return effect.definition;
  throw invalidOption('effect', `step '${name}' enters ${shown(effect)}, which was not made by effect()`);
}
