import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startPostgres, type PostgresServer } from '../postgres-server.js';
import { postgresGround, sqliteGround } from './crash-ground.js';
import { CrashLane, type CrashRun } from './crash-lane.js';

let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

/** `charge` can be asked after, `mail` cannot: an operator decides. */
type Effect = 'charge' | 'mail';

const NEXT = { charge: 'effect.intended:mail', mail: 'wait.completed:early' } as const;

/** What the log has about an effect. */
const history = ({ events }: CrashRun, effect: Effect) =>
  events.filter((event) => event.startsWith('effect.') && event.endsWith(`:${effect}`));
/** What was found out about it. */
const answers = ({ sightings, decided }: CrashRun, effect: Effect) =>
  effect === 'mail'
    ? decided
    : sightings.filter(({ what }) => what.startsWith('charge: ')).map(({ what }) => what);

const ONCE = (effect: Effect) => [`effect.intended:${effect}`, `effect.recorded:${effect}`];

const stores = [
  { store: 'SQLite', open: () => sqliteGround() },
  { store: 'Postgres', open: () => postgresGround(server) },
] as const;

describe.each(stores)('$store: an effect whose worker is killed', ({ open }) => {
  let lane: CrashLane;
  beforeAll(async () => {
    lane = new CrashLane(await open());
  });
  afterAll(() => lane.close());

  /** Killed at a point, in a run that nothing else disturbed. */
  async function killed(point: string): Promise<CrashRun> {
    for (;;) {
      const run = await lane.run([point]);
      expect(run).toMatchObject({ problems: [], missed: null });
      if (!run.disturbed) return run;
    }
  }

  describe.each(['charge', 'mail'] as const)('%s', (effect) => {
    test('GUA-5 killed before the intent is recorded: runs once', async () => {
      const run = await killed(`before commit effect.intended:${effect} 1`);
      expect(history(run, effect)).toEqual(ONCE(effect));
      expect(answers(run, effect)).toEqual([]);
    });

    test('GUA-5 killed after the intent, before execution: barrier, and only notHappened lets it run', async () => {
      const run = await killed(`after commit effect.intended:${effect} 1`);
      expect(history(run, effect)).toEqual([
        `effect.intended:${effect}`,
        `effect.reconciled:${effect}`,
        ...ONCE(effect),
      ]);
      expect(answers(run, effect)).toEqual([effect === 'mail' ? 'mail/1' : 'charge: notHappened']);
    });

    test('GUA-5 killed after execution, before the effect is stored: barrier, and it does not run again', async () => {
      const run = await killed(`before putEffect ${effect} 1`);
      expect(history(run, effect)).toEqual([`effect.intended:${effect}`, `effect.reconciled:${effect}`]);
      expect(answers(run, effect)).toEqual([effect === 'mail' ? 'mail/1' : 'charge: happened']);
    });

    test('GUA-5 killed with the effect stored and no event: caught up', async () => {
      const run = await killed(`after putEffect ${effect} 1`);
      expect(history(run, effect)).toEqual(ONCE(effect));
      expect(answers(run, effect)).toEqual([]);
      expect(run.traces[0]).not.toContain(`after commit effect.recorded:${effect} 1`);
      expect(run.traces[1]).toContain(`after commit effect.recorded:${effect} 1`);
    });

    test('GUA-5 killed with the event recorded and nobody told: the recorded result is returned', async () => {
      const run = await killed(`after commit effect.recorded:${effect} 1`);
      expect(history(run, effect)).toEqual(ONCE(effect));
      expect(answers(run, effect)).toEqual([]);
      expect(run.traces[1]?.filter((point) => point.includes(`:${effect} `))).toEqual([]);
    });

    test('GUA-5 GUA-6 killed after the commit: injected', async () => {
      const run = await killed(`after commit ${NEXT[effect]} 1`);
      expect(history(run, effect)).toEqual(ONCE(effect));
      expect(run.traces[1]?.filter((point) => point.includes(`:${effect} `))).toEqual([]);
    });
  });
});
