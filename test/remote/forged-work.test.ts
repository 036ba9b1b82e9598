import { expect, test } from 'vitest';
import { childIdOf, childWaitKey } from '../../src/engine/child-mail.js';
import { prepareCommit } from '../../src/engine/prepare-commit.js';
import { sha256 } from '../../src/engine/sha256.js';
import { canonicalJson, decide, NO_STEPS, type JobSpec } from '../../src/kernel/index.js';
import { aJobSpec, aWait, command } from '../../src/testkit/index.js';
import { HostileWorld, JOB } from './hostile-world.js';

const INPUT = '{"id":1}';
const HASH = sha256(canonicalJson(INPUT));

/** A start as a remote application sends it. */
async function start(world: HostileWorld, spec: Partial<JobSpec>, key = world.keys.holder) {
  const whole = aJobSpec({ jobId: JOB, inputHash: HASH, ...spec });
  const create = command('create', { now: world.clock.now(), spec: whole, input: INPUT });
  const decision = decide(null, create, NO_STEPS);
  if (!decision.ok) throw new Error(decision.code);
  const commandId = 'setup:1';
  const { link } = prepareCommit(null, { jobId: JOB, commandId, events: decision.events });
  return world.send(
    { job_id: JOB, rev: 1, command_id: commandId, link, commands: [create], inbox_rev: null, children: [] },
    key,
  );
}

test('DEC-6 a remote start takes its own tenant’s key, whatever it leaves out', async () => {
  const world = await HostileWorld.open();
  expect((await start(world, {})).saved).toBe(true);
  const other = { jobId: 'job_hostile_2' };
  const again = command('create', {
    now: world.clock.now(),
    spec: aJobSpec({ ...other, taskId: 'job_hostile_2', inputHash: HASH }),
    input: INPUT,
  });
  const decision = decide(null, again, NO_STEPS);
  if (!decision.ok) throw new Error(decision.code);
  const commit = { jobId: 'job_hostile_2', commandId: 'setup:2', events: decision.events };
  const said = await world.send(
    {
      job_id: 'job_hostile_2',
      rev: 1,
      command_id: 'setup:2',
      link: prepareCommit(null, commit).link,
      commands: [again],
      inbox_rev: null,
      children: [],
    },
    world.keys.holder,
  );
  expect(said).toEqual({ saved: false, said: 'IDENTITY_TAKEN' });
});

test.each<[string, Partial<JobSpec>]>([
  ['another tenant', { tenantId: 'evil' }],
  [
    'a parent, which would hear of its end',
    { parent: { jobId: 'job_00000002', step: 'ship', occurrence: 1 } },
  ],
  ['a schedule that did not fire', { firedBy: { scheduleId: 'daily', fireAt: 1 } }],
  ['a dead letter that nobody requeued', { requeuedFrom: 'dlq_1' }],
  ['what another job has recorded', { continues: { jobId: 'job_00000002', origin: 'job_00000002' } }],
  ['attempts of earlier runs', { attemptBase: 7 }],
  ['the scope of runs', { idempotencyScope: '$task-runs' }],
  ['another kind of schedule', { scheduleType: 'cron' }],
  ['the hash of another input', { inputHash: sha256('x') }],
])('JOB-14 RUN-3 a remote start with %s is refused, and nothing is stored', async (_, spec) => {
  const world = await HostileWorld.open();
  const before = await world.everything();
  expect(await start(world, spec)).toEqual({ saved: false, said: 'INVALID_COMMAND' });
  expect(await world.everything()).toBe(before);
});

test('GUA-8 a remote worker’s wait does not run out over a signal that it has not seen', async () => {
  const world = await HostileWorld.open();
  await start(world, {});
  await world.claim();
  const attemptId = (await world.job())?.attemptId ?? '';
  const late = command('consume-wait', {
    now: world.clock.now(),
    actor: `worker:${world.worker.id}`,
    attemptId,
    wait: aWait({ expiresAt: world.clock.now() }),
    outcome: 'timeout',
    payload: null,
  });
  const wire = await world.wire(late, attemptId);
  await world.own.putMessage({ jobId: JOB, key: 'approval', payload: '1' });
  const send = (inbox_rev: number) => world.send({ ...wire, inbox_rev }, world.keys.holder);
  expect(await send(0)).toEqual({ saved: false, said: 'INBOX_MOVED' });
  expect((await send(1)).saved).toBe(true);
  // The message has come too late now, and so does every other.
  const signal = { job_id: JOB, key: 'approval', payload: '2' };
  const { status, data } = await world.post('/messages', signal, world.keys.holder);
  expect([status, (data as { code: string }).code]).toEqual([409, 'WAIT_NOT_OPEN']);
});

test('a child is the parent’s own, or it is not started', async () => {
  const world = await HostileWorld.open();
  await start(world, {});
  await world.claim();
  const job = await world.job();
  if (job === null) throw new Error('no job');
  const ref = { step: 'ship', occurrence: 1 };
  const wait = aWait({ ...ref, kind: 'child', key: childWaitKey(ref) });
  const childId = childIdOf(job, ref);
  const spec = aJobSpec({
    jobId: childId,
    taskId: childId,
    idempotencyKey: childId,
    task: 'ship',
    inputHash: HASH,
    scheduledAt: world.clock.now(),
    parent: { jobId: JOB, ...ref },
  });
  const child = { childId, task: 'ship', inputHash: HASH };
  const attemptId = job.attemptId ?? '';
  const given = command('start-child', {
    now: world.clock.now(),
    actor: `worker:${world.worker.id}`,
    attemptId,
    wait,
    child,
  });
  const wire = await world.wire(given, attemptId);
  const before = await world.everything();
  const forged: Record<string, readonly unknown[]> = {
    none: [],
    'another tenant’s': [{ spec: { ...spec, tenantId: 'evil' }, input: INPUT }],
    'another parent’s': [{ spec: { ...spec, parent: { jobId: 'job_00000009', ...ref } }, input: INPUT }],
    'one with another id': [{ spec: { ...spec, jobId: 'job_00000008' }, input: INPUT }],
    'one of another task': [{ spec: { ...spec, task: 'other' }, input: INPUT }],
    'one with another input': [{ spec, input: '{"id":2}' }],
    'one with a key of its own': [{ spec: { ...spec, idempotencyKey: 'order_1001' }, input: INPUT }],
    'one that is none': [{ spec: { jobId: childId }, input: INPUT }],
    'one whose input is no JSON': [{ spec, input: 'nonsense' }],
  };
  for (const [what, children] of Object.entries(forged)) {
    expect((await world.send({ ...wire, children }, world.keys.holder)).saved, what).toBe(false);
    expect(await world.everything(), what).toBe(before);
  }
  expect(await world.send({ ...wire, children: [{ spec, input: INPUT }] }, world.keys.holder)).toEqual({
    saved: true,
    said: 'ok',
  });
  const { entries } = await world.own.takeOutbox({ kind: 'child', limit: 10, leaseMs: 1_000 });
  expect(entries).toMatchObject([{ jobId: JOB, entryId: `${childId}:start` }]);
});

test('an effect that another life may be in is neither entered again nor settled, whatever its holder says', async () => {
  const world = await HostileWorld.open();
  await start(world, {});
  await world.claim();
  const held = async () => ({
    now: world.clock.now(),
    actor: `worker:${world.worker.id}`,
    attemptId: (await world.job())?.attemptId ?? '',
  });
  const give = async (given: Parameters<HostileWorld['wire']>[0]) =>
    world.send(await world.wire(given, (await held()).attemptId), world.keys.holder);
  expect((await give(command('begin-effect', await held()))).saved).toBe(true);
  const first = world.worker;
  await give(command('interrupt', { ...(await held()), cause: { reason: 'drained' } }));
  // The same key, as another worker: the first one lives on.
  const second = { id: `${first.id}2`, incarnation: `${first.id}2.1` };
  Object.assign(world, { worker: second });
  await world.claim();
  const settle = { verdict: { kind: 'notHappened' } as const, bodyMayRun: false, settleMs: 0 };
  expect(await give(command('reconcile-effect', { ...(await held()), ...settle }))).toEqual({
    saved: false,
    said: 'RESULT_STORED',
  });
  world.clock.advance(30_000);
  expect((await give(command('reconcile-effect', { ...(await held()), ...settle }))).saved).toBe(true);
});

test('a name that was used before brings nothing new into a job, here or later', async () => {
  const world = await HostileWorld.open();
  await start(world, {});
  await world.claim();
  const attemptId = (await world.job())?.attemptId ?? '';
  const held = { now: world.clock.now(), actor: `worker:${world.worker.id}`, attemptId };
  const honest = await world.wire(command('record-step', held), attemptId);
  const { found } = await world.own.load(JOB);
  const decision = decide(found && found.job, command('record-step', held), NO_STEPS);
  if (!decision.ok) throw new Error(decision.code);
  // Saved by another server: this one still has the job as it was claimed.
  const commit = { jobId: JOB, commandId: honest.command_id, events: decision.events };
  await world.own.commit([prepareCommit(found, commit)]);
  const lie = command('begin-effect', held);
  const lied = decide(found && found.job, lie, NO_STEPS);
  if (!lied.ok || found === null) throw new Error('the kernel would have let it pass');
  const forged = prepareCommit(found, { ...commit, events: lied.events });
  const before = await world.everything();
  await world.send({ ...honest, link: forged.link, commands: [lie] }, world.keys.holder);
  expect(await world.everything()).toBe(before);
  const next = command('record-effect', held);
  const wire = { ...honest, rev: honest.rev + 1, command_id: `${attemptId}:99`, commands: [next] };
  expect(await world.send(wire, world.keys.holder)).toEqual({ saved: false, said: 'NONDETERMINISM' });
  expect(await world.everything()).toBe(before);
});
