import type { Event } from '../kernel/index.js';

/** Upper bounds of the classes of a histogram, in seconds: from a claim that is immediate to one that took an hour. */
const WAIT_BOUNDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1_800, 3_600] as const;

/** How long things took, by classes. */
export class Histogram {
  readonly bounds: readonly number[];
  /** One more than bounds: the last is for what is beyond them all. */
  readonly counts: number[];
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(value: number): void {
    let index = 0;
    while (index < this.bounds.length && value > (this.bounds[index] ?? 0)) index += 1;
    this.counts[index] = (this.counts[index] ?? 0) + 1;
    this.sum += value;
  }
}

/** A count for each of a few names: tenants, states. */
export class Tally {
  readonly counts = new Map<string, number>();

  add(name: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }
}

/** What of an effect each of these events makes known. */
const EFFECT_STATES: Readonly<Partial<Record<Event['type'], string>>> = {
  'effect.intended': 'entered',
  'effect.recorded': 'recorded',
  'effect.closed': 'closed',
  'effect.unknown': 'unknown',
  'effect.reconciled': 'reconciled',
};

const COUNTED = {};

/** Counts what happens in this process since it began. Each count is an addition, so that nobody pays for it. */
export class Meters {
  /** From the moment when a job could be claimed to the one when it was. */
  readonly wait = new Histogram(WAIT_BOUNDS);
  readonly finished = new Tally();
  readonly effects = new Tally();
  readonly dlqEntries = new Tally();
  readonly transitionsRefused = new Tally();
  leasesExpired = 0;
  fencedWrites = 0;
  lateEffects = 0;

  /** What a commit that went through says. `takesOver`: of effects that another job has entered, which count there. */
  committed(
    tenantId: string,
    events: readonly Event[],
    { takesOver = false }: { readonly takesOver?: boolean } = COUNTED,
  ): void {
    for (const { type } of events) {
      const state = EFFECT_STATES[type];
      if (state !== undefined) {
        if (!takesOver) this.effects.add(state);
      } else if (type === 'job.succeeded' || type === 'job.cancelled') this.finished.add(type.slice(4));
      else if (type === 'job.failed') {
        this.finished.add('failed');
        this.dlqEntries.add(tenantId);
      }
    }
  }
}
