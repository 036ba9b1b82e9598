import type { Bug } from './bug.js';

/** What a worker owes to its jobs, neglected. */
export const WORKER_BUGS: readonly Bug[] = [
  {
    name: 'attempt id reused',
    file: 'worker/names',
    from: '${incarnation}/${claim}',
    to: '${incarnation}/1',
  },
  {
    name: 'replay out of order',
    file: 'worker/replay',
    from: 'if (at < (this.#waiting[first]?.at ?? 0))',
    to: 'if (at > (this.#waiting[first]?.at ?? 0))',
  },
  {
    name: 'recorded steps run again',
    file: 'worker/run-step',
    from: 'known !== undefined && known.output !== null',
    to: 'false',
  },
  {
    name: 'child started twice',
    file: 'worker/call-step',
    from: 'if (known !== undefined)',
    to: 'if (false)',
  },
  {
    name: 'any throw closes an effect',
    file: 'worker/effect-entry',
    from: 'if (ended.error instanceof NoEffectError)',
    to: 'if (true)',
  },
  {
    name: 'cannot tell means not happened',
    file: 'worker/effect-barrier',
    from: "if (kind === 'notHappened')\n        return { kind };",
    to: "if (kind !== 'happened')\n        return { kind: 'notHappened' };",
  },
  {
    name: 'effect keys change with the attempt',
    file: 'worker/effect-use',
    from: 'sha256(text)',
    to: 'sha256(text + execution.attempt.attemptId)',
  },
  {
    name: 'lost claims are never handed back',
    file: 'worker/worker',
    from: 'if (now - since >= this.#options.leaseMs * LEASE_RENEWAL_SHARE)',
    to: 'if (false)',
  },
  {
    name: 'cancelled handlers run on',
    file: 'worker/worker',
    from: "attempt?.lose('the job was taken from this worker')",
    to: 'void attempt',
  },
  {
    name: 'dead for good',
    file: 'worker/lease-keeper',
    from: 'return;\n        }\n        this.#renew();',
    to: 'return;\n        }',
  },
  { name: 'sleeps end at once', file: 'worker/waits', from: 'wait.expiresAt > engine.now()', to: 'false' },
  {
    name: 'checkpoint read too late',
    file: 'worker/past',
    from: 'readLog(store, jobId, job.checkpointRev)',
    to: 'readLog(store, jobId, job.checkpointRev + 1)',
  },
  {
    name: 'a body is entered without a lease',
    file: 'worker/effect-entry',
    from: '!around.holdsLease() && !attempt.isOver',
    to: 'false',
  },
  {
    name: 'a fenced attempt goes on',
    file: 'worker/attempt',
    from: 'this.lose(`the job went on without this attempt (${reply.code})`);',
    to: 'return true;',
  },
  { name: 'winners of a race change', file: 'worker/attempt', from: 'if (index > 0)', to: 'if (false)' },
  {
    name: 'a refused wait hangs',
    file: 'worker/waits',
    from: 'pending.reject(error);\n            return;',
    to: 'return;',
  },
  {
    name: 'late results are hidden',
    file: 'engine/late-result',
    from: "effect?.kind !== 'effect' || !isLate(effect, kept.entry)",
    to: 'true',
  },
  {
    name: 'a body past its time blocks its effect',
    file: 'worker/effect-entry',
    from: 'await keep(null);',
    to: "if (!timedOut) await keep(null); else return { kind: 'threw', error };",
  },
  {
    name: 'results of effects are not kept',
    file: 'worker/effect-entry',
    from: 'await keep(result);\n        around',
    to: 'around',
  },
  {
    name: 'signals of running jobs are not heard',
    file: 'worker/waits',
    from: 'this.#readTo < attempt.inboxRev',
    to: 'false',
  },
  {
    name: 'what refused commands bring is saved',
    file: 'worker/attempt',
    from: 'options.extras !== undefined && decisions[index]?.ok',
    to: 'options.extras !== undefined',
  },
  {
    name: 'an intent that nobody follows is waited for',
    file: 'worker/effect-entry',
    from: 'await keepResult(execution, kept, { straggles: false });',
    to: 'void kept;',
  },
  {
    name: 'a lease lost by own count keeps its incarnation',
    file: 'worker/lease-keeper',
    from: "this.#options.onLost('its lease could not be renewed in time');\n        this.#renew();",
    to: "this.#options.onLost('its lease could not be renewed in time');",
  },
];
