import { PawlError } from '../../errors.js';
import { FatalError } from '../../engine/failure-of.js';
import type { HandlerContext } from '../../worker/task-definition.js';
import type { Steps } from '../../worker/steps.js';
import type { AnyTask, Task } from '../../client/task.js';
import type { Effect } from '../../client/effect.js';
import type { Hits } from '../hits.js';
import type { Host } from '../host.js';
import type { ChildTask, EffectKind, Instruction, Program, WorkInput } from './program.js';

/** What the handlers of one process have at hand. */
export type Tools = {
  readonly host: Host;
  readonly hits: Hits;
  readonly effects: Readonly<Record<EffectKind, Effect<{ name: string }, string>>>;
  readonly children: () => Readonly<Record<ChildTask, AnyTask>>;
  /** Called when a replay did not see what the first run saw. */
  readonly onDiffers: (problem: string) => void;
  /** Which handlers run at the moment, and whether they were told to stop. */
  readonly onStart: (running: RunningHandler) => () => void;
};

export type RunningHandler = {
  readonly host: Host;
  readonly jobId: string;
  readonly isAborted: () => boolean;
};

/** Runs the program of a job. Its result is all that its steps gave, so that the log can be held against it. */
export async function handle(tools: Tools, context: HandlerContext<WorkInput>): Promise<unknown> {
  const { input, step, job } = context;
  const running = { host: tools.host, jobId: job.id, isAborted: () => context.signal.aborted };
  const ended = tools.onStart(running);
  try {
    if (input.rounds > 0) return await loop(tools, step, input.rounds);
    return await runProgram(tools, step, input.program);
  } finally {
    ended();
  }
}

async function runProgram(tools: Tools, step: Steps, program: Program): Promise<unknown[]> {
  const results: unknown[] = [];
  for (const instruction of program) results.push(await runInstruction(tools, step, instruction));
  return results;
}

async function runInstruction(tools: Tools, step: Steps, what: Instruction): Promise<unknown> {
  const { hits, host } = tools;
  hits.add('feature', what.do);
  switch (what.do) {
    case 'run':
      return step.run(what.name, () => work(tools, what));
    case 'retry':
      return step.run(what.name, () => work(tools, what), { retry: { maxRetries: 2 }, timeout: '10s' });
    case 'effect':
      return step.effect(what.name, tools.effects[what.kind], { name: what.name });
    case 'sleep':
      await step.sleep(what.name, what.ms);
      return 'slept';
    case 'wait': {
      const { key, timeoutMs } = what;
      const payload = timeoutMs === null ? step.waitFor(key) : step.waitFor(key, { timeout: timeoutMs });
      return (await payload) ?? 'nothing';
    }
    case 'call':
      return callChild(tools, step, what);
    case 'race':
      return race(tools, step, what);
    case 'values':
      return [await step.now(), await step.random(), await step.uuid()];
    case 'parallel':
      return Promise.all(what.branches.map((branch) => runProgram(tools, step, branch)));
    case 'throw':
      if (!host.chance(what.percent)) return 'went well';
      if (what.fatal) throw new FatalError('the simulated handler gives up');
      throw new Error('the simulated handler failed');
  }
}

/** A body: takes its time, may fail, and gives something that no other run of it gives. */
async function work({ host }: Tools, what: { ms: number; failPercent: number }): Promise<string> {
  const token = `${host.index}/${host.random.int(2 ** 32)}`;
  if (what.ms > 0) await host.sleep(what.ms);
  if (host.chance(what.failPercent)) throw new Error('the simulated body failed');
  return token;
}

async function callChild(
  { children }: Tools,
  step: Steps,
  { name, task, program }: Extract<Instruction, { do: 'call' }>,
): Promise<unknown> {
  const child = children()[task] as Task<WorkInput, unknown>;
  try {
    return await step.call(name, child, { program, key: null, rounds: 0 });
  } catch (error) {
    if (error instanceof PawlError && error.code === 'CHILD_FAILED')
      return { ended: error.details['status'] };
    throw error;
  }
}

/** What wins is written down, and must win again in every replay. */
async function race(
  tools: Tools,
  step: Steps,
  { name, ms, sleepMs }: Extract<Instruction, { do: 'race' }>,
): Promise<unknown> {
  const ran = step.run(`${name}r`, () => work(tools, { ms, failPercent: 0 })).then(() => 'run');
  const slept = step.sleep(`${name}s`, sleepMs).then(() => 'sleep');
  const winner = await Promise.race([ran, slept]);
  const first = await step.run(`${name}w`, () => winner);
  if (first !== winner) tools.onDiffers(`race '${name}' was won by ${first}, and by ${winner} in a replay`);
  await Promise.all([ran, slept]);
  return first;
}

async function loop(tools: Tools, step: Steps, rounds: number): Promise<unknown> {
  tools.hits.add('feature', 'checkpoint');
  const state = step.resume<{ round: number; seen: string[] }>({ round: 0, seen: [] });
  const seen = [...state.seen];
  for (let round = state.round; round < rounds; round++) {
    seen.push(await step.run('round', () => work(tools, { ms: 5, failPercent: 5 })));
    if (round % 3 === 1) await step.sleep('rest', 300);
    await step.checkpoint({ round: round + 1, seen });
  }
  return seen;
}
