import { prepareCommit } from '../../src/engine/prepare-commit.js';
import { decide, NO_STEPS } from '../../src/kernel/index.js';
import { memoryStore } from '../../src/stores/memory/memory-store.js';
import { ATTEMPT, command, Rig, T0, type OpenStore } from '../../src/testkit/index.js';
import { JOB, KEY, perform, RIVALS, type Act } from './act.js';

/** Time stands still in the whole matrix, so that no two outcomes differ by it. */
export const NOW = T0;

/** Its lease has run out, and at first nobody has noticed. */
const HOLDER = { id: 'worker-a', incarnation: 'worker-a.1' };
const OTHER = { id: 'worker-b', incarnation: 'worker-b.1' };
const ENTRY = { step: 'charge', occurrence: 1, entry: 1 };
const held = { attemptId: ATTEMPT };

const commit = async (rig: Rig, ...given: Parameters<Rig['prepare']>): Promise<Act> => ({
  kind: 'commit',
  item: await rig.prepare(...given),
});

/** What leads a job from one state to the next. */
const STEPS = {
  create: (rig) => commit(rig, JOB, rig.createCommand(JOB), { identities: [KEY] }),
  claim: async () => ({ kind: 'claim', worker: HOLDER, attemptId: ATTEMPT }),
  'begin an effect': (rig) => commit(rig, JOB, command('begin-effect', held), held),
  sweep: async () => ({ kind: 'sweep' }),
  interrupt: (rig) => commit(rig, JOB, command('interrupt', held)),
  wait: (rig) => commit(rig, JOB, command('begin-wait', held), held),
  complete: (rig) => commit(rig, JOB, command('complete', held), held),
} satisfies Record<string, (rig: Rig) => Promise<Act>>;
type Step = keyof typeof STEPS;

const RUNNING = ['create', 'claim', 'begin an effect'] as const;

/** The states in which pairs meet. In those after `running` its worker has lost the job and does not know yet. */
export const SITUATIONS = {
  'there is no job': [],
  queued: ['create'],
  claimed: ['create', 'claim'],
  running: RUNNING,
  'its worker is dead': [...RUNNING, 'sweep'],
  interrupted: [...RUNNING, 'sweep', 'interrupt'],
  waiting: [...RUNNING, 'wait'],
  ended: [...RUNNING, 'complete'],
} as const satisfies Record<string, readonly Step[]>;
export type Situation = keyof typeof SITUATIONS;

export type Actor = 'one' | 'two';
type Prepare = (rig: Rig, actor: Actor, done: readonly Step[]) => Promise<Act>;

/** Two of one kind differ in what they bring, so that it shows whose was kept. */
const OPERATIONS = {
  start: (rig, actor) => start(rig, JOB, actor),
  'start of a rival with its key': (rig, actor) => start(rig, RIVALS[actor], actor),
  claim: async (_, actor, done) => ({
    kind: 'claim',
    // Of a queued job by a worker that a sweep would declare dead; later on by another.
    worker: done.length > 1 ? OTHER : HOLDER,
    attemptId: `claim-${actor}`,
  }),
  'step record': (rig, actor) =>
    commit(rig, JOB, command('record-step', { ...held, output: `"${actor}"` }), held),
  complete: (rig, actor) => commit(rig, JOB, command('complete', { ...held, result: `"${actor}"` }), held),
  wait: async (rig) => {
    const { inboxRev } = await rig.store.inbox(JOB);
    return commit(rig, JOB, command('begin-wait', held), { ...held, inboxRev });
  },
  signal: async (_, actor) => ({
    kind: 'message',
    message: { jobId: JOB, key: 'approval', payload: `"${actor}"` },
  }),
  cancel: (rig, actor) => commit(rig, JOB, command('cancel', { reason: actor })),
  // A reclaim is two transactions, and each of them races: the sweep that declares a worker dead, then the interrupt.
  sweep: async () => ({ kind: 'sweep' }),
  reclaim: async (rig, _, done) =>
    done.includes('sweep')
      ? commit(rig, JOB, command('interrupt', held))
      : { kind: 'refused', why: 'nobody has declared its worker dead' },
  heartbeat: async () => ({ kind: 'beat', beat: { worker: HOLDER, leaseMs: 30_000, lanes: [] } }),
  putEffect: async (_, actor) => ({
    kind: 'effect',
    result: { jobId: JOB, ...ENTRY, result: `"${actor}"` },
  }),
  // As whoever declares it does: only if no result has been stored.
  notHappened: (rig) => commit(rig, JOB, command('reconcile-effect', held), { ...held, noResultOf: ENTRY }),
  purge: async () => ({
    kind: 'purge',
    // Both have looked at the same page of jobs that ended long ago, and this one was on it.
    purge: { jobs: [{ jobId: JOB, guard: null }], identityTtlMs: 0 },
  }),
} satisfies Record<string, Prepare>;
export type Operation = keyof typeof OPERATIONS;
export const OPERATION_NAMES = Object.keys(OPERATIONS) as Operation[];

/** A start is decided on nothing: who had the key or the id before, it learns from the store. */
async function start(rig: Rig, jobId: string, actor: Actor): Promise<Act> {
  const decision = decide(null, rig.createCommand(jobId, { inputHash: `hash-of-${actor}` }), NO_STEPS);
  if (!decision.ok) throw new Error(decision.code);
  const commandId = `start-${actor}`;
  const item = prepareCommit(null, { jobId, commandId, events: decision.events }, { identities: [KEY] });
  return { kind: 'commit', item };
}

/** `fresh`: decided on the job as it is. Else on what it was one step before. */
export type Prepared = { readonly act: Act; readonly fresh: boolean };
export type Plan = {
  readonly build: readonly Act[];
  readonly operations: Readonly<Record<Operation, Readonly<Record<Actor, Prepared>>>>;
};

/**
 * How a situation comes about, and every operation decided in it, before any of them is sent. It is worked out once,
 * on the memory store: what is decided does not depend on the store, and every run gets the same.
 */
export async function planOf(situation: Situation): Promise<Plan> {
  const shared = new Map<string, ReturnType<typeof memoryStore>>();
  const open: OpenStore = async ({ clock, name }) => {
    const store = shared.get(name) ?? memoryStore({ clock });
    shared.set(name, store);
    return store;
  };
  const rig = await Rig.start(open);
  const build: Act[] = [
    { kind: 'beat', beat: { worker: HOLDER, leaseMs: 0, lanes: [] } },
    { kind: 'beat', beat: { worker: OTHER, leaseMs: 600_000, lanes: [] } },
  ];
  for (const act of build) await perform(rig.store, act);
  const done: Step[] = [];
  let before = await operationsIn(rig, done);
  let now = before;
  for (const step of SITUATIONS[situation]) {
    const act = await STEPS[step](rig);
    await perform(rig.store, act);
    build.push(act);
    done.push(step);
    before = now;
    now = await operationsIn(rig, done);
  }
  const pick = (name: Operation, actor: Actor): Prepared => {
    const fresh = now[name][actor].kind !== 'refused';
    return { act: (fresh ? now : before)[name][actor], fresh };
  };
  const operations = Object.fromEntries(
    OPERATION_NAMES.map((name) => [name, { one: pick(name, 'one'), two: pick(name, 'two') }]),
  ) as Plan['operations'];
  return { build, operations };
}

type Acts = Readonly<Record<Operation, Readonly<Record<Actor, Act>>>>;

async function operationsIn(rig: Rig, done: readonly Step[]): Promise<Acts> {
  const acts: Partial<Record<Operation, Record<Actor, Act>>> = {};
  for (const name of OPERATION_NAMES) {
    const prepare = async (actor: Actor): Promise<Act> =>
      OPERATIONS[name](rig, actor, done).catch((error: unknown) => ({ kind: 'refused', why: String(error) }));
    acts[name] = { one: await prepare('one'), two: await prepare('two') };
  }
  return acts as Acts;
}
