import { stepKey, type StepIndex } from '../../kernel/index.js';
import type { ChildEnd } from '../../engine/child-mail.js';
import type { Instruction, Program, WorkInput } from './program.js';

/** What a program must have returned, going by the records of its steps alone. */
export function expectedResult(input: WorkInput, steps: Pick<StepIndex, 'get' | 'waitFor'>): unknown {
  const used = new Map<string, number>();
  const next = (step: string) => {
    const occurrence = (used.get(step) ?? 0) + 1;
    used.set(step, occurrence);
    return { step, occurrence };
  };
  const recorded = (name: string): unknown => {
    const ref = next(name);
    const step = steps.get(ref);
    if (step?.kind === 'run') return parse(step.output);
    if (step?.kind === 'effect') return parse(step.result);
    throw new Error(`step '${stepKey(ref)}' has no record`);
  };
  const childEnd = (name: string): unknown => {
    const step = steps.get(next(name));
    const end = step?.kind === 'wait' ? (parse(step.payload) as ChildEnd | null) : null;
    if (end?.status === 'succeeded') return JSON.parse(end.result) as unknown;
    return { ended: end?.status ?? null };
  };
  const run = (what: Instruction): unknown => {
    switch (what.do) {
      case 'run':
      case 'retry':
      case 'effect':
        return recorded(what.name);
      case 'sleep':
        return 'slept';
      case 'wait': {
        const wait = steps.waitFor(what.key);
        return (wait?.outcome === 'received' ? parse(wait.payload) : null) ?? 'nothing';
      }
      case 'call':
        return childEnd(what.name);
      case 'race':
        return recorded(`${what.name}w`);
      case 'values':
        return [recorded('$now'), recorded('$random'), recorded('$uuid')];
      case 'parallel':
        return what.branches.map((branch) => runAll(branch));
      case 'throw':
        return 'went well';
    }
  };
  const runAll = (program: Program): unknown[] => program.map((what) => run(what));
  if (input.rounds > 0) return Array.from({ length: input.rounds }, () => recorded('round'));
  return runAll(input.program);
}

function parse(text: string | null): unknown {
  return JSON.parse(text ?? 'null') as unknown;
}
