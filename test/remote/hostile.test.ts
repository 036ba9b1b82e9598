import { describe, expect, test } from 'vitest';
import { chainHash } from '../../src/engine/sha256.js';
import { prepareCommit } from '../../src/engine/prepare-commit.js';
import { COMMAND_TYPES, decide, NO_STEPS, type Command, type CommandType } from '../../src/kernel/index.js';
import { aJobSpec, aWait, command, prng, T0 } from '../../src/testkit/index.js';
import { HostileWorld, JOB, NO_LINK } from './hostile-world.js';

/** What no key may give through a server, whatever its role. */
const NOBODYS: ReadonlySet<CommandType> = new Set([
  'promote',
  'claim',
  'heartbeat',
  'expire-waits',
  'signal',
  'abort-recovery',
  'force-fail',
  'resolve-effect',
]);
const CLIENTS: ReadonlySet<CommandType> = new Set(['create', 'cancel', 'complete-wait']);

const SEEDS = Number(process.env['PAWL_HOSTILE_SEEDS'] ?? 15);
const ROUNDS = 14;

async function begin(world: HostileWorld): Promise<void> {
  const create = command('create', { now: world.clock.now(), spec: aJobSpec({ jobId: JOB }) });
  const decision = decide(null, create, NO_STEPS);
  if (!decision.ok) throw new Error(decision.code);
  const { events } = decision;
  await world.own.commit([prepareCommit(null, { jobId: JOB, commandId: 'setup', events })]);
  await world.claim();
}

/** A command as the job's holder would give it now. */
function honest(type: CommandType, world: HostileWorld, attemptId: string): Command {
  const base = { now: world.clock.now(), actor: `worker:${world.worker.id}` };
  if (CLIENTS.has(type)) return command(type, { now: base.now, actor: 'client' });
  if (type === 'interrupt') {
    return command('interrupt', { ...base, attemptId, cause: { reason: 'drained' } });
  }
  if (type === 'expire-deadline') return command(type, { ...base, attemptId, worker: world.worker });
  if (type === 'begin-wait' || type === 'consume-wait') {
    const wait = aWait({ kind: 'timer', key: 'nap#1', step: 'nap', expiresAt: T0 });
    return type === 'begin-wait'
      ? command(type, { ...base, attemptId, waits: [wait] })
      : command(type, { ...base, attemptId, wait, outcome: 'elapsed', payload: null });
  }
  if (NOBODYS.has(type)) return command(type, { now: base.now });
  return command(type, { ...base, attemptId } as never);
}

/** What a liar makes of a command: each is one that the kernel alone might let pass. */
function lies(given: Command, world: HostileWorld): Record<string, Command> {
  const { now } = given;
  const at = given as Command & { attemptId?: string };
  return {
    'another actor': { ...given, actor: 'recovery' },
    'an operator’s name': { ...given, actor: 'operator:key_1' },
    'another worker’s name': { ...given, actor: 'worker:somebody' },
    'a time to come': { ...given, now: now + 3_600_000 },
    'a time before the last event': { ...given, now: T0 - 1 },
    ...(at.attemptId === undefined
      ? {}
      : { 'another attempt': { ...given, attemptId: 'somebody.1/1' } as Command }),
    ...(given.type === 'begin-effect' || given.type === 'reconcile-effect'
      ? { 'a result that nobody stored': { ...given, storedResult: '"forged"' } }
      : {}),
    ...(given.type === 'consume-wait'
      ? {
          'a signal that nobody sent': {
            ...given,
            wait: aWait(),
            outcome: 'received' as const,
            payload: '"forged"',
          },
        }
      : {}),
    ...(given.type === 'interrupt'
      ? {
          'a lease that did not run out': {
            ...given,
            cause: { reason: 'lease_expired' as const, leaseUntil: null },
          },
          'a worker that did not come back': {
            ...given,
            cause: {
              reason: 'worker_restarted' as const,
              worker: { ...world.worker, incarnation: `${world.worker.incarnation}9` },
            },
          },
        }
      : {}),
    ...('result' in given ? { 'a payload that is no JSON': { ...given, result: 'not json' } } : {}),
  };
}

describe('a key that lies', () => {
  test(`JOB-14 GUA-2 random commands on random states, ${SEEDS} × ${ROUNDS} rounds: only the holder's own are saved`, async () => {
    const seen = { saved: 0, refused: 0 };
    for (let seed = 1; seed <= SEEDS; seed++) {
      const random = prng(seed);
      const world = await HostileWorld.open();
      await begin(world);
      for (let round = 0; round < ROUNDS; round++) {
        world.clock.advance(random.int(2_000));
        const job = await world.job();
        if (job?.status !== 'running' && job?.finishedAt === null) await world.claim();
        const attemptId = (await world.job())?.attemptId ?? '';
        const type = COMMAND_TYPES[random.int(COMMAND_TYPES.length)] as CommandType;
        const given = honest(type, world, attemptId);
        const before = await world.everything();
        const where = `seed ${seed} round ${round} ${type}`;
        const wire = await world.wire(given, attemptId);
        const expectRefused = async (what: string, wanted: Parameters<HostileWorld['send']>) => {
          const { saved, said } = await world.send(...wanted);
          expect([saved, said.startsWith('5')], `${where}: ${what} (${said})`).toEqual([false, false]);
          expect(await world.everything(), `${where}: ${what} (${said})`).toBe(before);
          seen.refused += 1;
        };
        for (const [what, lie] of Object.entries(lies(given, world))) {
          await expectRefused(what, [await world.wire(lie, attemptId), world.keys.holder]);
        }
        await expectRefused('no key', [wire, null]);
        await expectRefused('a viewer', [wire, world.keys.viewer]);
        await expectRefused('another tenant', [wire, world.keys.stranger]);
        if (!CLIENTS.has(type)) await expectRefused('another key', [wire, world.keys.sibling]);
        await expectRefused('another link', [{ ...wire, link: chainHash('x') }, world.keys.holder]);
        await expectRefused('a later revision', [{ ...wire, rev: wire.rev + 1 }, world.keys.holder]);
        await expectRefused('somebody else’s name', [
          { ...wire, command_id: 'other.1/7:1' },
          world.keys.holder,
        ]);
        if (NOBODYS.has(type) || type === 'create' || type === 'complete-wait') {
          await expectRefused('not for a worker to give', [wire, world.keys.holder]);
          continue;
        }
        const { saved } = await world.send(wire, world.keys.holder);
        expect(saved, `${where}: the holder itself`).toBe(wire.link !== NO_LINK && type !== 'start-child');
        if (saved) seen.saved += 1;
      }
    }
    expect(seen.saved).toBeGreaterThan(SEEDS);
    expect(seen.refused).toBeGreaterThan(SEEDS * ROUNDS * 10);
  });

  test('every command is tried at least once by someone who may not give it', async () => {
    const world = await HostileWorld.open();
    await begin(world);
    const before = await world.everything();
    const { attemptId } = (await world.job()) ?? {};
    for (const type of COMMAND_TYPES) {
      const wire = await world.wire(honest(type, world, attemptId ?? ''), attemptId ?? '');
      for (const key of [world.keys.stranger, world.keys.viewer, null]) {
        expect((await world.send(wire, key)).saved, type).toBe(false);
      }
      if (NOBODYS.has(type))
        expect((await world.send(wire, world.keys.holder)).said).toMatch(/FORBIDDEN|INVALID/);
    }
    expect(await world.everything()).toBe(before);
  });

  test('nobody beats, claims or resigns in the name of another key’s worker, or of one beside the store', async () => {
    const world = await HostileWorld.open();
    await begin(world);
    const lanes = [
      { lane: 'default', key_limit: null, tenant_limit: null, rate: null, rate_per_tenant: false },
    ];
    for (const worker of [
      world.worker,
      { id: 'w-local', incarnation: 'w-local.1' },
      { id: '', incarnation: '' },
    ]) {
      for (const key of [world.keys.sibling, world.keys.stranger, world.keys.viewer]) {
        const { status: beaten } = await world.post('/beat', { worker, lease_ms: 1_000, lanes: [] }, key);
        const { status: claimed } = await world.post(
          '/claim',
          { worker, lanes, limit: 1, has_suspect: false, except: [] },
          key,
        );
        const { status: resigned } = await world.post('/resign', { worker }, key);
        expect([400, 403]).toContain(beaten);
        expect([400, 403]).toContain(claimed);
        expect([400, 403]).toContain(resigned);
      }
    }
    const other = { id: world.worker.id, incarnation: 'somebody.1' };
    const beat = (worker: typeof other, lease_ms: number) =>
      world.post('/beat', { worker, lease_ms, lanes: [] }, world.keys.holder);
    expect((await beat(other, 1_000)).status).toBe(403);
    // Whoever renewed such a lease would do nothing else, and the server look after it as often.
    expect((await beat(world.worker, 99)).status).toBe(400);
    const { workers } = await world.own.workers({ incarnations: null });
    expect(workers.map(({ worker }) => worker)).toEqual([world.worker]);
  });

  test('effects and signals of another tenant’s job go nowhere, and are read by nobody else', async () => {
    const world = await HostileWorld.open();
    await begin(world);
    const before = await world.everything();
    const result = { job_id: JOB, step: 'charge', occurrence: 1, entry: 1, result: '1', awaited_by: null };
    const put = await world.post('/effects', { results: [result] }, world.keys.stranger);
    expect(put).toMatchObject({ status: 200, data: { first: [false] } });
    const message = { job_id: JOB, key: 'approval', payload: 'true' };
    expect((await world.post('/messages', message, world.keys.stranger)).data).toMatchObject({
      outcome: 'no job',
    });
    for (const key of ['child:ship#1', 'effect:charge#1/1', ' ']) {
      const { status } = await world.post('/messages', { ...message, key }, world.keys.holder);
      expect(status).toBe(400);
    }
    expect(await world.everything()).toBe(before);
  });
});
