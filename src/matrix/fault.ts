import type { FaultId, Guarantee } from './cells.js';
import type { Ground } from './ground.js';
import type { Trial } from './trial.js';

/** What was done, and what is wrong beyond what every trial is checked for. */
export type Strike = {
  /** In a few words, with what was counted. */
  readonly how: string;
  readonly problems?: readonly (readonly [Guarantee, string])[];
};

/** Where trials take place. */
export type Place = Pick<Ground, 'kind' | 'control' | 'url'>;

/** A fault, and how to bring it about with real processes. */
export type Fault = {
  readonly id: FaultId;
  /** It takes the store away from everybody: no other trial may run meanwhile. */
  readonly alone?: boolean;
  /** How many kinds of it there are: trials take turns. */
  readonly variants: number;
  /** What stands for it on a store that cannot suffer it; null: nothing need. */
  readonly instead?: Readonly<Partial<Record<Ground['kind'], string>>>;
  /** Why it cannot be brought about here; null: it can. */
  readonly impossible?: (place: Place) => string | null;
  /** Brings it about, and heals it. Returns once all jobs have ended; throws `Missed` if it did not strike. */
  readonly strike: (trial: Trial) => Promise<Strike>;
};
