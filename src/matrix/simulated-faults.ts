import { decodeEvents } from '../kernel/index.js';
import type { CommitItem } from '../ports/store.js';
import type { Fault } from '../sim/faults.js';
import type { Call } from '../sim/network.js';
import type { FaultId } from './cells.js';

/** Something that struck a call of a simulated process. */
export type SimStrike = {
  readonly kind: Fault['kind'];
  /** Longer than a lease. */
  readonly isLong: boolean;
  readonly call: string;
  /** What a commit was about to say, or had said. */
  readonly events: ReadonlySet<string>;
};

export function strikeOf({ kind, ms }: Fault, { name, asked }: Call, leaseMs: number): SimStrike {
  const items = name === 'commit' ? (asked[0] as readonly CommitItem[]) : [];
  const events = items.flatMap(({ body }) => {
    const decoded = decodeEvents(body);
    return decoded.ok ? decoded.events.map(({ type }) => type) : [];
  });
  return { kind, isLong: ms > leaseMs, call: name, events: new Set(events) };
}

type Hits = Readonly<Record<string, number>>;

const isCrash = ({ kind }: SimStrike): boolean => kind.startsWith('crash');
const isPause = ({ kind }: SimStrike): boolean => kind.startsWith('pause');
const isLoss = ({ kind }: SimStrike): boolean => kind === 'outage' || kind.startsWith('slow');
/** The worker stands still, or is not heard, for longer than its lease. */
const isAway = (strike: SimStrike): boolean => strike.isLong && (isPause(strike) || isLoss(strike));
const count = (hits: Hits, ...names: readonly string[]): number =>
  names.reduce((sum, name) => sum + (hits[name] ?? 0), 0);
const times = (strikes: readonly SimStrike[], fits: (strike: SimStrike) => boolean): number =>
  strikes.filter(fits).length;

/** How often a schedule of the simulator met each fault. What lies between two calls is met with the next one. */
export const SIMULATED: Readonly<Record<FaultId, (strikes: readonly SimStrike[], hits: Hits) => number>> = {
  F1: (strikes) =>
    times(
      strikes,
      (one) =>
        isCrash(one) &&
        (one.events.has('effect.intended') || (one.call === 'claim' && one.kind === 'crash after')),
    ),
  F2: (strikes) =>
    times(
      strikes,
      (one) =>
        isCrash(one) &&
        (one.call === 'putEffect' || (one.kind === 'crash before' && one.events.has('effect.recorded'))),
    ),
  F3: (strikes) =>
    times(
      strikes,
      ({ kind, events }) =>
        kind === 'crash after' && (events.has('effect.recorded') || events.has('step.recorded')),
    ),
  F4: (_strikes, hits) =>
    count(
      hits,
      'feature effect hung, and had happened',
      'feature effect hung, and had not happened',
      'feature effect took too long',
    ),
  F5: (strikes) =>
    times(strikes, ({ call, kind }) => call === 'putMessage' && /^(crash|error|outage)/.test(kind)),
  F6: (strikes, hits) =>
    count(hits, 'event attempt.interrupted') > 0 ? times(strikes, (one) => isPause(one) && one.isLong) : 0,
  F7: (strikes) => times(strikes, (one) => one.isLong && isLoss(one)),
  F8: (strikes) =>
    times(
      strikes,
      (one) =>
        isAway(one) &&
        (one.call === 'putEffect' ||
          one.events.has('effect.recorded') ||
          one.events.has('effect.reconciled')),
    ),
  F9: (strikes) => times(strikes, ({ kind }) => kind === 'outage'),
  F10: (_strikes, hits) => count(hits, 'event attempt.interrupted'),
  F11: (strikes, hits) => (strikes.some(isCrash) ? count(hits, 'event wait.begun') : 0),
};
