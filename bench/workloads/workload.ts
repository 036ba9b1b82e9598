/** What is measured. The sizes are those of `--scale full`; smaller scales are for trying things out. */
export type Scale = 'tiny' | 'small' | 'full';

export type Workload = {
  readonly id: WorkloadId;
  readonly says: string;
  /** How many jobs, steps or starts, by scale. */
  readonly sizes: Readonly<Record<Scale, number>>;
  /** Only Pawl does this one: there is nothing to compare it with but itself. */
  readonly alone?: true;
  /** What it has to build up first takes long, so that it sees to its rounds itself. */
  readonly ownRounds?: true;
  /** Needs two processes that share a store. */
  readonly apart?: true;
  readonly pace: Pace;
};

/** Of many at a time a process warms up with in seconds. Of one after the other it takes longer, and longest with pauses in between. */
export type Pace = 'many at once' | 'one by one' | 'now and then';

export type WorkloadId =
  | 'single-starts'
  | 'bulk-starts'
  | 'drain'
  | 'five-steps'
  | 'step'
  | 'pick-up'
  | 'backlog'
  | 'claimers'
  | 'in-flight'
  | 'history'
  | 'signals'
  | 'schedules'
  | 'effects'
  | 'children'
  | 'retries'
  | 'dead-letters';

export const WORKLOADS: readonly Workload[] = [
  {
    id: 'single-starts',
    says: 'single starts by 100 callers at once',
    sizes: { tiny: 200, small: 5_000, full: 20_000 },
    pace: 'many at once',
  },
  {
    id: 'bulk-starts',
    says: 'starts, 1,000 in a call',
    sizes: { tiny: 1_000, small: 10_000, full: 50_000 },
    pace: 'many at once',
  },
  {
    id: 'drain',
    says: 'a backlog of no-op jobs, run by one worker',
    sizes: { tiny: 200, small: 5_000, full: 20_000 },
    pace: 'many at once',
  },
  {
    id: 'five-steps',
    says: 'jobs of five durable steps, run by one worker',
    sizes: { tiny: 40, small: 2_000, full: 10_000 },
    pace: 'many at once',
  },
  {
    id: 'step',
    says: 'one durable step after the other, in one job',
    sizes: { tiny: 20, small: 200, full: 1_000 },
    pace: 'one by one',
  },
  {
    id: 'pick-up',
    says: 'from before `start` in one process to the handler in another',
    sizes: { tiny: 10, small: 100, full: 300 },
    apart: true,
    pace: 'now and then',
  },
  {
    id: 'backlog',
    says: 'a drain out of a large backlog beside one out of none',
    sizes: { tiny: 2_000, small: 100_000, full: 1_000_000 },
    pace: 'many at once',
    alone: true,
    ownRounds: true,
  },
  {
    id: 'claimers',
    says: 'the same drain by a hundred workers',
    sizes: { tiny: 200, small: 5_000, full: 20_000 },
    pace: 'many at once',
    alone: true,
  },
  {
    id: 'in-flight',
    says: 'memory for each job of many that run at once',
    sizes: { tiny: 100, small: 1_000, full: 10_000 },
    pace: 'many at once',
    alone: true,
  },
  {
    id: 'history',
    says: 'a step behind a long history beside one behind a short one',
    sizes: { tiny: 100, small: 1_000, full: 10_000 },
    pace: 'many at once',
    alone: true,
  },
  {
    id: 'signals',
    says: 'waiting jobs, woken by their signals',
    sizes: { tiny: 50, small: 1_000, full: 1_000 },
    pace: 'many at once',
    alone: true,
  },
  {
    id: 'schedules',
    says: 'schedules that are due in the same moment',
    sizes: { tiny: 50, small: 1_000, full: 10_000 },
    pace: 'many at once',
    alone: true,
  },
  {
    id: 'effects',
    says: 'jobs of five effects',
    sizes: { tiny: 40, small: 1_000, full: 5_000 },
    pace: 'many at once',
    alone: true,
  },
  {
    id: 'children',
    says: 'jobs that call another and wait for its result',
    sizes: { tiny: 40, small: 1_000, full: 5_000 },
    pace: 'many at once',
    alone: true,
  },
  {
    id: 'retries',
    says: 'jobs that fail once',
    sizes: { tiny: 40, small: 1_000, full: 5_000 },
    pace: 'many at once',
    alone: true,
  },
  {
    id: 'dead-letters',
    says: 'jobs that fail for good',
    sizes: { tiny: 40, small: 1_000, full: 5_000 },
    pace: 'many at once',
    alone: true,
  },
];

/** What one round found, by the name of the figure (`figures.ts`). */
export type Figures = Readonly<Record<string, number>>;

/** What a measure is given. `urls`: databases that nobody else uses. */
export type Ground = {
  readonly urls: readonly [string, string];
  readonly size: number;
  readonly rounds: number;
  /** How long to run it first, unmeasured. */
  readonly warmUpMs: number;
};

export type Measure = (ground: Ground) => Promise<Figures | readonly Figures[]>;
export type Measures = Readonly<Partial<Record<WorkloadId, Measure>>>;
