import type { Bug } from './bug.js';

/** The engine's part of the protocol, broken. */
export const ENGINE_BUGS: readonly Bug[] = [
  {
    name: 'keys of all scopes are one',
    file: 'engine/new-job',
    from: 'JSON.stringify([scope, idempotencyKey])',
    to: 'JSON.stringify([idempotencyKey])',
  },
  {
    name: 'early signal dropped',
    file: 'engine/signal-job',
    from: 'await engine.store.putMessage({ jobId, key, payload })',
    to: "{ outcome: 'kept' }",
  },
  {
    name: 'unread messages not swept',
    file: 'engine/recover',
    from: '(jobId) => deliverInbox(engine, jobId)',
    to: 'async () => false',
  },
  {
    name: 'timers never fire',
    file: 'engine/recover',
    from: 'work: (jobId) => give(',
    to: 'work: (jobId) => false && give(',
  },
  {
    name: 'recovery robs the next holder',
    file: 'engine/recover',
    from: "if (job.attemptId === null || job.attemptId !== lost.attemptId || job.status !== 'running')",
    to: "if (job.attemptId === null || job.status !== 'running')",
  },
  {
    name: 'outbox settled before delivery',
    file: 'engine/deliver-outbox',
    from: 'const { refused, postponed } = await startChildren(',
    to: "await engine.store.settleOutbox(taken.map(({ entry }) => ({ entryId: entry.entryId, outcome: 'done' })));\n    const { refused, postponed } = await startChildren(",
  },
  {
    name: 'children never started',
    file: 'engine/deliver-outbox',
    from: 'if (items.length === 0)',
    to: 'if (items.length <= 1)',
  },
  {
    name: 'end of a child not written down',
    file: 'engine/deliver-outbox',
    from: 'messages.map(({ jobId, key, payload }) => engine.store.putMessage({ jobId, key, payload }))',
    to: '[]',
  },
  {
    name: 'end of a child lost',
    file: 'engine/consequences',
    from: 'return ended ? [...mail, ended] : mail',
    to: 'return mail',
  },
  {
    name: 'a child’s end tells of another',
    file: 'engine/child-mail',
    from: "status === 'cancelled'",
    to: "status !== 'succeeded'",
  },
  {
    name: 'strangers may cancel',
    file: 'engine/operator',
    from: 'tenantId !== null && spec.tenantId !== tenantId',
    to: 'false',
  },
  {
    name: 'strangers may signal',
    file: 'engine/signal-job',
    from: '(tenantId !== null && looked.job.spec.tenantId !== tenantId)',
    to: 'false',
  },
  { name: 'discarded by one alone', file: 'engine/dlq', from: 'asked.by === authority.actor', to: 'false' },
  {
    name: 'firings not unique',
    file: 'engine/schedules/fire',
    from: '[...identities, firing]',
    to: 'identities',
  },
  {
    name: 'links do not hang together',
    file: 'engine/prepare-commit',
    from: 'head?.link ?? CHAIN_START',
    to: 'CHAIN_START',
  },
  {
    name: 'the local clock counts',
    file: 'engine/store-time',
    from: 'this.#offset = now - this.#clock.elapsed();',
    to: 'this.#offset = this.#clock.now() - this.#clock.elapsed();',
  },
  {
    name: 'dead letter of a newer past',
    file: 'engine/consequences',
    from: '.slice(0, head.job.rev)',
    to: '',
  },
  {
    name: 'unknown outcome taken for success',
    file: 'engine/send',
    from: '|| !patience.goOn())\n            throw last;',
    to: '|| !patience.goOn())\n            throw last;\n        return { now: 0, replies: [{ ok: true, repeated: false }] };',
  },
];
