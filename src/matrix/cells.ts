/** The matrix of docs/spec.md as data: what each guarantee is said to do under each fault. */

export const GUARANTEES = {
  G1: 'a step is executed at least once in the end',
  G2: 'a step’s side effect at most once',
  G3: 'replay re-executes nothing',
  G4: 'no signal is lost once accepted, and its job is scheduled again',
  G5: 'no job is lost',
  G6: 'the event stream is not polluted by stale writers',
  G7: 'one tool commit per idempotency key',
} as const;
export type Guarantee = keyof typeof GUARANTEES;
export const GUARANTEE_IDS = Object.keys(GUARANTEES) as readonly Guarantee[];

export const FAULTS = {
  F1: 'worker crash before the tool ran',
  F2: 'worker crash after the tool, before its commit',
  F3: 'worker crash after the commit',
  F4: 'step timeout',
  F5: 'signal lost',
  F6: 'two workers claim the same job as its lease expires',
  F7: 'network partition between worker and store',
  F8: 'several workers compete to commit one idempotency key',
  F9: 'store unavailable',
  F10: 'reclaim after lease expiry',
  F11: 'blocked (waiting) job',
} as const;
export type FaultId = keyof typeof FAULTS;
export const FAULT_IDS = Object.keys(FAULTS) as readonly FaultId[];

/**
 * `holds`: in every trial. `resend`: once whoever sent it sends it again. `not while down`: nothing goes on until the
 * store is back, and then it does. `lost`: it does not hold, and that is shown. `n/a`: the fault does not touch it;
 * where a trial has something to look at, it is looked at all the same.
 */
export type Claim = 'holds' | 'resend' | 'not while down' | 'lost' | 'n/a';

/** What a cell of the source says: the claim, and the words beside it. */
export type Said = { readonly claim: Claim; readonly words: string };

const holds = (words = ''): Said => ({ claim: 'holds', words });
const NA: Said = { claim: 'n/a', words: '' };

function row(
  ...said: readonly [Said, Said, Said, Said, Said, Said, Said]
): Readonly<Record<Guarantee, Said>> {
  return Object.fromEntries(GUARANTEE_IDS.map((id, index) => [id, said[index]])) as Record<Guarantee, Said>;
}

/** On a store that outlives its processes. */
export const CELLS: Readonly<Record<FaultId, Readonly<Record<Guarantee, Said>>>> = {
  F1: row(
    holds('goes on after reclaim'),
    holds('it had not run'),
    holds('injected'),
    holds(),
    holds(),
    holds(),
    holds(),
  ),
  F2: row(
    holds('goes on after reclaim'),
    holds('catch-up or barrier'),
    holds('catch-up or injected'),
    holds(),
    holds(),
    holds(),
    holds('ledger and barrier'),
  ),
  F3: row(holds(), holds(), holds(), holds(), holds(), holds(), holds()),
  F4: row(
    holds('requeued'),
    holds('uncommitted is not re-executed'),
    holds(),
    holds(),
    holds(),
    holds(),
    holds(),
  ),
  F5: row(NA, NA, NA, { claim: 'resend', words: 'send it again' }, holds(), holds(), NA),
  F6: row(
    holds('one advances'),
    holds('attempt id and ledger'),
    holds(),
    holds(),
    holds(),
    holds(),
    holds('ledger'),
  ),
  F7: row(
    holds('the holder advances'),
    holds('attempt id and ledger'),
    holds(),
    holds(),
    holds(),
    holds('stale attempt refused'),
    holds(),
  ),
  F8: row(
    holds(),
    holds('one commits'),
    holds(),
    holds(),
    holds(),
    holds(),
    holds('one commit, the others are refused'),
  ),
  F9: row(
    { claim: 'not while down', words: 'not while it is down' },
    NA,
    NA,
    NA,
    holds('on a persistent store'),
    NA,
    NA,
  ),
  F10: row(holds('another worker goes on'), holds('injected'), holds(), holds(), holds(), holds(), holds()),
  F11: row(
    NA,
    NA,
    NA,
    holds('scheduled once wait_completed is written'),
    holds('never reclaimed'),
    holds(),
    NA,
  ),
};

/** What a store in memory cannot do: it ends with its process. */
export const LOST_IN_MEMORY: Said = { claim: 'lost', words: 'a store in memory ends with its process' };
