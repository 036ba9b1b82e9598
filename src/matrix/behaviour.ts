import type { FaultId } from './cells.js';

/** What the system does under a fault, what to know about that, and the configuration under which it is so. */
export type Behaviour = {
  readonly does: string;
  readonly remark: string;
  readonly configuration: string;
};

const STORE = 'a persistent store that all workers share: Postgres, or one SQLite file on one machine';

export const BEHAVIOUR: Readonly<Record<FaultId, Behaviour>> = {
  F1: {
    does: 'The lease runs out, recovery marks the job `interrupted`, another worker claims it under a new attempt id and replays it. An intent whose body may have been entered is asked after first; `notHappened` lets it run.',
    remark: 'Recorded steps are injected, the one that was cut off runs again. A crash costs no attempt.',
    configuration: `${STORE}; \`reconcile\` on every effect; a \`lease\` of 30 s, renewed at a third of it`,
  },
  F2: {
    does: 'Replay finds the result in the effect store and writes the event (catch-up). Without a result it stands at the barrier: `reconcile` answers, else the job parks for an operator, or fails, by `onUnknown`.',
    remark: 'Never entered again unless somebody declares that it had not happened.',
    configuration: `${STORE}, with synced commits; the ledger and the effect store are part of it and always on; \`reconcile\`, and \`settle\` longer than a request may be under way`,
  },
  F3: {
    does: 'Another worker replays the job to its latest revision and goes on with the next step.',
    remark: 'Nothing that is recorded runs again.',
    configuration: `${STORE}; \`step.checkpoint\` in long loops, so that a replay is short`,
  },
  F4: {
    does: 'The AbortSignal of the step fires and the step fails with `STEP_TIMEOUT`: the attempt is retried after its backoff, or dead-lettered when its retries are used up. An effect past its time is of unknown outcome, and stands at the barrier.',
    remark: 'A result that comes after all is kept.',
    configuration:
      '`stepTimeout` or a `timeout` of the step; `retry` with `maxRetries`, `baseMs` and `maxBackoffMs`; bodies that heed their `signal`',
  },
  F5: {
    does: 'The job stays `waiting`, parked. Sending again is idempotent: `repeated` if it had been written down, else `delivered` or `kept`.',
    remark: 'One `wait_completed` for each correlation key. A signal that comes before its wait is kept.',
    configuration:
      'none; whoever sends, sends again until it is answered. LISTEN and NOTIFY, or none: wake-ups only save waiting',
  },
  F6: {
    does: 'One claim finds the job, in one transaction with its new attempt id; the other finds nothing. What the old holder still writes is refused: its revision is taken.',
    remark:
      'The key of the log, (job, revision), is the fence; lifecycle commits are held against the attempt id, too.',
    configuration: `${STORE}, which holds the ledger; its clock alone counts`,
  },
  F7: {
    does: 'The worker counts its own lease from the sending of its last renewal and aborts its handlers before others get its jobs. Back again, it goes on as a new incarnation, and its late writes are refused.',
    remark:
      'A result of an effect is kept even from a worker that was given up. A way that swallows everything is noticed after `silence_ms`.',
    configuration: `${STORE}; handlers that heed their \`signal\`; \`?silence_ms=\` in the address (30 s) if a worker shall be back sooner`,
  },
  F8: {
    does: 'The first result stored wins, and one commit records it. Others are given the recorded result, wait while its owner is alive, or are refused as stale.',
    remark: 'Every entry of a step has the same idempotency key, so that a receiver can tell a repetition.',
    configuration: `${STORE}, which holds the ledger and the effect store; receivers that honour the \`idempotencyKey\``,
  },
  F9: {
    does: 'Nothing is claimed and nothing recorded. Workers try again with a backoff of up to 5 s and go on by themselves; handlers are aborted when their lease is over. `/readyz` is false, and an alert is raised.',
    remark: 'What was acknowledged is there afterwards; on a store in memory it is not.',
    configuration:
      'Postgres with replicas (`synchronous_commit` on, and synchronous ones against the loss of a disk); `fsync` and `full_page_writes` on; alerts with a callback, and probes on `/readyz`',
  },
  F10: {
    does: 'Recovery, a loop of every worker, declares the incarnation dead, writes `attempt.interrupted` (`lease_expired`) for all that it held, and others claim it.',
    remark:
      'Counted in `recovery_count`; the sixth crash in a row without a new step dead-letters the job. Waiting jobs are not touched.',
    configuration:
      'a `lease` of 5 s or more, longer than any pause of the event loop, renewed at a third; `maxRecoveries` and `recovery` by task; at least two workers',
  },
  F11: {
    does: 'A waiting job holds no lease and is in no index that claims look at. Only `wait_completed` makes it claimable: by a signal, a timer, a child, or its expiry.',
    remark: 'A signal whose bearer died after writing it down is delivered by a sweep.',
    configuration: 'a `timeout` of the wait where nobody may ever answer; wake-ups are optional',
  },
};
