import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { memoryStore } from '../../src/stores/memory/memory-store.js';
import { startPostgres, type PostgresServer } from '../postgres-server.js';
import { LONG } from '../long-mode.js';
import { perform } from './act.js';
import type { Ground } from './ground.js';
import { Judge } from './judge.js';
import { postgresGround } from './postgres-ground.js';
import { NOW, OPERATION_NAMES, planOf, SITUATIONS, type Plan, type Situation } from './situation.js';
import { sqliteGround } from './sqlite-ground.js';

const plans = new Map<Situation, Plan>();
beforeAll(async () => {
  for (const name of Object.keys(SITUATIONS) as Situation[]) plans.set(name, await planOf(name));
});

test('GUA-4 notHappened is declared here as it is everywhere: a result that is stored makes the store refuse it', async () => {
  const { build, operations } = await planOf('running');
  const store = memoryStore({ clock: { now: () => NOW } });
  for (const act of build) await perform(store, act);
  await perform(store, operations.putEffect.one.act);
  const refused = { ok: false, code: 'RESULT_STORED' };
  expect(await perform(store, operations.notHappened.two.act)).toMatchObject({ replies: [refused] });
});

/** So many databases, and pairs at once: most of the time of a race goes by in waiting. */
const GROUNDS_EACH = 4;

/** SQLite has one writer, so that whatever is stopped there stops the other alike: a third of them tells, unless there is time for all. */
const isLooked = (store: string, index: number): boolean => LONG || store === 'postgres' || index % 3 === 0;

let server: PostgresServer | undefined;
const STORES: Readonly<Record<string, () => Promise<Ground[]>>> = {
  postgres: async () => {
    const started = await startPostgres();
    server = started;
    return Promise.all(Array.from({ length: GROUNDS_EACH }, () => postgresGround(started)));
  },
  'sqlite, in two processes': () => Promise.all(Array.from({ length: GROUNDS_EACH }, sqliteGround)),
};
afterAll(async () => {
  await server?.stop();
});

for (const [store, open] of Object.entries(STORES)) {
  describe.concurrent(`isolation on ${store}: two operations on one job come to what a serial order comes to`, () => {
    let grounds: Ground[] = [];
    let judge: Judge;
    beforeAll(async () => {
      grounds = await open();
      judge = new Judge(grounds, plans);
    });
    afterAll(async () => {
      await Promise.all(grounds.map((ground) => ground.close()));
    });

    for (const first of OPERATION_NAMES.filter((_, index) => isLooked(store, index))) {
      test.each(OPERATION_NAMES)(`${first} is stopped before COMMIT while there is: %s`, async (second) => {
        const situations = judge.situationsOf(first, second);
        expect(situations).not.toEqual([]);
        const problems = await Promise.all(
          situations.map((situation) => judge.problemsOf(situation, [first, second])),
        );
        expect(problems.flat().join('\n\n')).toBe('');
      });
    }
  });
}
