import {
  claimableAt,
  COMMAND_TYPES,
  decide,
  effectDecisionWait,
  evolve,
  evolveCommit,
  StepLog,
  timesOutAt,
  wakesAt,
  type Command,
  type CommandOf,
  type CommandType,
  type Commit,
  type Decision,
  type Job,
  type JobSpec,
  type Wait,
} from '../kernel/index.js';
import type { Random } from '../ports/random.js';
import { aChildWait, aFailure, aFatalFailure, aWait, command } from './sample-commands.js';
import { aJobSpec, T0 } from './sample-job.js';

export type RandomHistory = {
  readonly commits: readonly Commit[];
  readonly job: Job;
  readonly steps: StepLog;
  /** Every command that was given, with the job it met and the answer it got. */
  readonly answers: readonly Answer[];
};

export type Answer = { readonly before: Job | null; readonly command: Command; readonly decision: Decision };

/**
 * A legal history of one job: random commands, each with parameters that make sense often enough, of which the
 * kernel keeps what it accepts. The same draws give the same history, and fewer commands give a prefix of it.
 */
export function randomHistory(random: Random, { commands }: { commands: number }): RandomHistory {
  const pick = <T>(...options: readonly [T, ...T[]]): T => options[random.int(options.length)] ?? options[0];
  const steps = new StepLog();
  const commits: Commit[] = [];
  let now = T0;
  let claims = 0;
  const answers: Answer[] = [];

  const first = command('create', { spec: randomSpec(pick) });
  let job = record(null, first);
  if (job === null) throw new Error('a random job could not be created');

  for (let i = 0; i < commands; i++) {
    now = laterThan(now, job, pick);
    const next = randomCommand(job);
    job = record(job, next) ?? job;
  }
  return { commits, job, steps, answers };

  function record(before: Job | null, given: Command): Job | null {
    const decision = decide(before, given, steps);
    answers.push({ before, command: given, decision });
    if (!decision.ok) return null;
    if (decision.events.length === 0) return before;
    let current = before;
    for (const event of decision.events) {
      steps.apply(current, event);
      current = evolve(current, event);
    }
    const rev = (before?.rev ?? 0) + 1;
    commits.push({ jobId: first.spec.jobId, rev, events: decision.events });
    return evolveCommit(before, { events: decision.events });
  }

  function randomCommand(current: Job): Command {
    const type = pick(...LIKELY[current.status], pick(...(COMMAND_TYPES as [CommandType, ...CommandType[]])));
    return { ...command(type), ...parametersOf(type, current), now } as Command;
  }

  function parametersOf(type: CommandType, current: Job): Partial<Command> {
    const held = {
      attemptId: pick(current.attemptId ?? 'nobody/0', current.attemptId ?? 'nobody/0', 'stale/0'),
    };
    const ref = { step: pick('a', 'b', 'c'), occurrence: pick(1, 2) };
    const effect = { step: pick('charge', 'mail', 'a'), occurrence: pick(1, 2), entry: pick(1, 1, 2) };
    const failure = pick(aFailure, aFailure, aFatalFailure);
    const worker = pick(...WORKERS);
    switch (type) {
      case 'claim':
      case 'expire-deadline': {
        claims += 1;
        const attemptId = current.status === 'running' ? held.attemptId : `${worker}/${claims}`;
        const taken = {
          attemptId,
          worker: { id: worker, incarnation: `${worker}.${claims}` },
          actor: `worker:${worker}`,
        };
        return type === 'claim' ? { ...taken, early: pick(false, false, true) } : taken;
      }
      case 'fail-attempt':
        return { ...held, failure };
      case 'begin-wait':
        return {
          ...held,
          waits: pick([randomWait(effect)], [randomWait(effect), aWait({ key: 'go', step: 'go' })]),
        };
      case 'consume-wait': {
        const wait = randomWait(effect);
        return { ...held, wait, outcome: wait.kind === 'timer' ? 'elapsed' : pick('received', 'timeout') };
      }
      case 'complete-wait':
        return { key: pick('unknown', ...current.waits.map(({ key }) => key)) };
      case 'signal':
        return { key: pick('approval', 'go', 'other', 'bad key'), received: pick(false, false, true) };
      case 'interrupt':
        return { ...held, cause: randomCause(current) };
      case 'record-step':
        return { ...held, ...ref, startedAt: now };
      case 'fail-step':
        return { ...held, ...ref, startedAt: now, failure };
      case 'begin-effect': {
        const storedResult = pick(null, null, null, '"stored"');
        const tool = pick('tool', 'tool', 'tool', 'other');
        return {
          ...held,
          step: effect.step,
          occurrence: effect.occurrence,
          tool,
          bodyMayRun: pick(false, true),
          storedResult,
        };
      }
      case 'record-effect':
        return { ...held, ...effect };
      case 'close-effect':
      case 'doubt-effect':
        return { ...held, ...effect, failure };
      case 'reconcile-effect': {
        const verdict = pick<CommandOf<'reconcile-effect'>['verdict']>(
          { kind: 'happened', result: '"found"' },
          { kind: 'notHappened' },
          { kind: 'cannotTell' },
        );
        const storedResult = pick(null, null, null, '"stored"');
        return {
          ...held,
          ...effect,
          verdict,
          bodyMayRun: pick(false, true),
          settleMs: pick(0, 60_000),
          storedResult,
        };
      }
      case 'resolve-effect':
        return {
          ...effect,
          verdict: pick({ kind: 'happened', result: '"op"' }, { kind: 'notHappened' }, { kind: 'fail' }),
        };
      case 'start-child': {
        const n = pick(1, 2, 3);
        return { ...held, wait: aChildWait({ key: `child#${n}`, step: 'child', occurrence: n }) };
      }
      case 'heartbeat':
      case 'complete':
      case 'time-out':
      case 'save-checkpoint':
        return held;
      case 'create':
      case 'promote':
      case 'expire-waits':
      case 'abort-recovery':
      case 'cancel':
      case 'force-fail':
        return {};
    }
  }

  function randomWait(effect: { step: string; occurrence: number; entry: number }): Wait {
    const n = pick(1, 2, 3);
    return pick(
      aWait({ expiresAt: pick(null, now + 5_000) }),
      aWait({ kind: 'timer', key: `sleep#${n}`, step: 'sleep', occurrence: n, expiresAt: now + 1_000 * n }),
      aChildWait({ key: `child#${n}`, step: 'child', occurrence: n }),
      effectDecisionWait(effect),
    );
  }

  function randomCause(current: Job): CommandOf<'interrupt'>['cause'] {
    const holder = current.worker ?? { id: 'nobody', incarnation: 'nobody.0' };
    return pick<CommandOf<'interrupt'>['cause']>(
      { reason: 'lease_expired', leaseUntil: pick(now, now + 1, null) },
      {
        reason: 'worker_restarted',
        worker: { id: holder.id, incarnation: pick(`${holder.incarnation}+`, holder.incarnation) },
      },
      { reason: 'drained' },
    );
  }
}

type Pick = <T>(...options: readonly [T, ...T[]]) => T;

const WORKERS = ['worker-a', 'worker-b', 'worker-c'] as const;

/** What tends to happen in each state, so that histories go somewhere; everything else happens now and then. */
const LIKELY: { readonly [S in Job['status']]: readonly [CommandType, ...CommandType[]] } = {
  scheduled: ['promote', 'claim', 'expire-deadline'],
  queued: ['claim', 'claim', 'expire-deadline'],
  running: [
    'record-step',
    'fail-step',
    'begin-effect',
    'record-effect',
    'close-effect',
    'doubt-effect',
    'reconcile-effect',
    'begin-wait',
    'consume-wait',
    'start-child',
    'save-checkpoint',
    'fail-attempt',
    'interrupt',
    'interrupt',
    'time-out',
    'complete',
  ],
  waiting: ['signal', 'complete-wait', 'expire-waits', 'resolve-effect', 'expire-deadline'],
  unblocked: ['claim', 'claim', 'signal'],
  retrying: ['claim', 'claim', 'claim', 'force-fail', 'expire-deadline'],
  interrupted: ['claim', 'claim', 'claim', 'abort-recovery'],
  dlq_pending: ['cancel'],
  dlq_recorded: ['cancel'],
  succeeded: ['complete', 'signal'],
  failed: ['fail-attempt', 'signal'],
  cancelled: ['cancel', 'signal'],
};

function randomSpec(pick: Pick): JobSpec {
  return aJobSpec({
    scheduledAt: pick(T0, T0 + 5_000),
    deadlineAt: pick(null, null, T0 + 120_000),
    timeoutMs: pick(null, 30_000),
    recovery: pick('resume', 'resume', 'abort'),
    maxRecoveries: pick(0, 1, 5),
    signals: pick(null, null, ['approval', 'go']),
    attemptBase: pick(0, 7),
    retry: {
      maxRetries: pick(0, 1, 3),
      baseMs: 1_000,
      maxBackoffMs: pick(1_500, 30_000),
      jitterMs: pick(0, 300),
    },
  });
}

/** Time mostly creeps, and sometimes jumps to the next thing that falls due. */
function laterThan(now: number, job: Job, pick: Pick): number {
  const due = pick(claimableAt(job), wakesAt(job), timesOutAt(job), job.spec.deadlineAt);
  return Math.max(now, pick(now, now + 1, now + 700, due ?? now));
}
