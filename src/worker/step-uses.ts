import { PawlError } from '../errors.js';
import { STEP_NAME, type StepRef } from '../kernel/index.js';

export type StepKind = 'run' | 'effect' | 'transaction' | 'sleep' | 'wait' | 'call' | 'value' | 'pause';

/** Steps that the engine takes for the handler. Only they have names with a leading `$`. */
const OWN_KINDS: ReadonlySet<StepKind> = new Set(['value', 'pause']);

/** How far each name has been counted. */
export type Counts = Readonly<Record<string, number>>;

type Use = {
  readonly kind: StepKind;
  /** The how-manieth use the last one was. */
  occurrence: number;
  /** How many have not ended. */
  open: number;
};

/** The names that one run of a handler has used for its steps, since its last checkpoint. */
export class StepUses {
  readonly #uses = new Map<string, Use>();
  #open = 0;
  #counted: Counts;

  /** `counted`: at the checkpoint that the run goes on from. */
  constructor(counted: Counts) {
    this.#counted = counted;
  }

  /** How many have begun and not ended. */
  get open(): number {
    return this.#open;
  }

  /** The how-manieth use of a name this is. One name stands for one kind of step. Whoever began a step also ends it. */
  begin(step: string, kind: StepKind): StepRef {
    const use = this.#uses.get(step) ?? this.#first(step, kind);
    if (use.kind !== kind) {
      throw new PawlError('STEP_NAME_REUSED', {
        detail: `'${step}' is a step.${use.kind} and a step.${kind} of one job`,
        details: { step },
      });
    }
    use.occurrence += 1;
    use.open += 1;
    this.#open += 1;
    return { step, occurrence: use.occurrence };
  }

  #first(step: string, kind: StepKind): Use {
    if (!OWN_KINDS.has(kind)) checkName(step);
    const counted = Object.hasOwn(this.#counted, step) ? this.#counted[step] : 0;
    const use: Use = { kind, occurrence: counted ?? 0, open: 0 };
    this.#uses.set(step, use);
    return use;
  }

  end({ step }: StepRef): void {
    const use = this.#uses.get(step);
    if (use === undefined) return;
    use.open -= 1;
    this.#open -= 1;
  }

  /** The name of a step that has begun and not ended, whether or not the log knows of it. */
  findOpen(): string | null {
    for (const [step, { open }] of this.#uses) if (open > 0) return step;
    return null;
  }

  /**
   * From here on steps have the numbers that whoever begins at this checkpoint gives them. An earlier attempt may have come
   * further with a name than this one, and its records are not to be taken for those of later rounds.
   */
  countFrom(counted: Counts): void {
    this.#counted = counted;
    for (const [step, { open }] of this.#uses) if (open === 0) this.#uses.delete(step);
  }
}

function checkName(step: string): void {
  const isSized = typeof step === 'string' && step.length <= 200;
  if (isSized && STEP_NAME.test(step) && !step.startsWith('$')) return;
  throw new PawlError('INVALID_OPTION', {
    detail: `${JSON.stringify(step)} is no name of a step: 1 to 200 characters, none of them '#' or a control character, and no '$' in front`,
    details: { option: 'step' },
  });
}
