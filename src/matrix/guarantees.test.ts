import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Event } from '../kernel/index.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import { fakeClock } from '../testkit/fake-clock.js';
import { T0 } from '../testkit/sample-job.js';
import { testApp } from '../testkit/test-app.js';
import { aftermathOf, type Aftermath, type Remains } from './aftermath.js';
import { GUARANTEE_IDS, type Guarantee } from './cells.js';
import { CHECKS } from './guarantees.js';
import { orderTasks } from './order-task.js';
import { pointedStore } from './pointed-store.js';
import { Points } from './points.js';

const folder = mkdtempSync(join(tmpdir(), 'pawl-guarantees-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** What an order leaves behind that nothing has happened to. */
let sound: Aftermath;

beforeAll(async () => {
  const points = new Points();
  const { order, ship } = orderTasks(points);
  const clock = fakeClock(T0);
  const store = pointedStore(memoryStore({ clock }), points);
  const app = await testApp({ tasks: [order, ship], clock, store });
  const witness = join(folder, 'witness');
  const { job: handle } = await app.app.start(order, { witness });
  const signals = new Map([
    ['early', 'one'],
    ['early-too', 'two'],
    ['late', 'three'],
  ]);
  for (const [key, payload] of signals) await handle.signal(key, payload);
  await app.ended(handle);
  [sound] = (await aftermathOf(store, [{ kind: 'order', handle, witness, signals, withheld: false }])) as [
    Aftermath,
  ];
  await app.stop();
});

/** The guarantees that a check finds broken. */
function broken(after: Aftermath): Guarantee[] {
  return GUARANTEE_IDS.filter((id) => CHECKS[id](after).problems.length > 0);
}

/** The same with other events: `change` answers with what is to stand in place of one. */
function withEvents(remains: Remains, change: (event: Event) => Event[]): Remains {
  return {
    ...remains,
    commits: remains.commits.map((commit) => ({ ...commit, events: commit.events.flatMap(change) })),
  };
}

const again = (what: string) => sound.sightings.filter((one) => one.what === what);

test('GUA-1 nothing is found wrong where nothing is', () => {
  expect(broken(sound)).toEqual([]);
  expect(CHECKS.G1(sound).counted).toEqual({ 'bodies seen by the witness': 4 });
  expect(CHECKS.G2(sound).counted).toEqual({ effects: 3, 'entries seen by the witness': 3 });
  expect(CHECKS.G3(sound).counted['recorded results']).toBe(5);
  expect(CHECKS.G7(sound).counted).toEqual({ 'tool commits': 3 });
});

const TAMPERED: readonly (readonly [what: string, red: readonly Guarantee[], tamper: () => Aftermath])[] = [
  [
    'a body that was never entered',
    ['G1'],
    () => ({ ...sound, sightings: sound.sightings.filter(({ what }) => what !== 'mail') }),
  ],
  [
    'another result',
    ['G1'],
    () => ({ ...sound, own: { ...sound.own, job: sound.own.job && { ...sound.own.job, result: '{}' } } }),
  ],
  [
    'a job that does not end',
    ['G1', 'G4', 'G5'],
    () => ({
      ...sound,
      own: { ...sound.own, job: sound.own.job && { ...sound.own.job, status: 'running', finishedAt: null } },
    }),
  ],
  [
    'an effect that was entered twice',
    ['G2'],
    () => ({ ...sound, sightings: [...sound.sightings, ...again('charge')] }),
  ],
  [
    'a step that ran again in a later claim',
    ['G3'],
    () => {
      const claims = sound.own.commits.flatMap(({ events }) =>
        events.flatMap((event) => (event.type === 'attempt.started' ? [event.attemptId] : [])),
      );
      const [quote] = again('quote');
      const later = { what: 'quote', key: '', pid: 1, ...quote, attemptId: claims.at(-1) ?? '' };
      return { ...sound, sightings: [...sound.sightings, later] };
    },
  ],
  [
    'another id in a replay',
    ['G3'],
    () => ({
      ...sound,
      sightings: [...sound.sightings, { what: 'id', key: 'other', pid: 1, attemptId: '' }],
    }),
  ],
  [
    'a signal that completed no wait',
    ['G4'],
    () => ({
      ...sound,
      own: withEvents(sound.own, (event) =>
        event.type === 'wait.completed' && event.wait.key === 'late' ? [] : [event],
      ),
    }),
  ],
  [
    'a signal that completed two',
    ['G4'],
    () => ({
      ...sound,
      own: withEvents(sound.own, (event) =>
        event.type === 'wait.completed' && event.wait.key === 'late' ? [event, event] : [event],
      ),
    }),
  ],
  [
    'a signal that brought something else',
    ['G4'],
    () => ({
      ...sound,
      own: withEvents(sound.own, (event) =>
        event.type === 'wait.completed' && event.wait.key === 'early'
          ? [{ ...event, payload: 'null' }]
          : [event],
      ),
    }),
  ],
  ['a signal that nobody read', ['G4'], () => ({ ...sound, own: { ...sound.own, unread: ['late'] } })],
  ['a child that is lost', ['G5'], () => ({ ...sound, child: sound.child && { ...sound.child, job: null } })],
  [
    'a log that a stranger wrote to',
    ['G6'],
    () => ({ ...sound, own: { ...sound.own, problems: ['revision 4 was written by another'] } }),
  ],
  [
    'a result that was committed twice',
    ['G7'],
    () => ({
      ...sound,
      own: withEvents(sound.own, (event) => (event.type === 'effect.recorded' ? [event, event] : [event])),
    }),
  ],
  [
    'an effect with two keys',
    ['G7'],
    () => ({
      ...sound,
      own: withEvents(sound.own, (event) =>
        event.type === 'effect.intended' ? [event, { ...event, effectKey: 'another' }] : [event],
      ),
    }),
  ],
];

test.each(TAMPERED)('GUA-1 %s turns %j red, and nothing else', (_what, red, tamper) => {
  expect(broken(tamper())).toEqual(red);
});
