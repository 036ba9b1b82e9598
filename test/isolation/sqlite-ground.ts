import { fork } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Store } from '../../src/ports/store.js';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.js';
import { bundled } from '../bundled.js';
import { storeFolder } from '../store-folder.js';
import { perform, stateOf, type Act } from './act.js';
import { until, type Ground, type Outcome, type Pair } from './ground.js';
import type { Order } from './paused-process.js';
import { NOW } from './situation.js';

/** Files that two processes open: a child, which can be stopped within its transaction, and this one. */
export async function sqliteGround(): Promise<Ground> {
  const folder = storeFolder('pawl-isolation-');
  const child = fork(join(await bundled(), 'test/isolation/paused-process.js'), [], {
    stdio: ['pipe', 'pipe', 'inherit', 'ipc'],
  });
  const order = async (given: Order): Promise<unknown> => {
    const answer = once(child, 'message');
    child.send(given);
    const [{ reply }] = (await answer) as [{ reply: unknown }];
    return reply;
  };
  const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
  let files = 0;

  /** A store on a new file, and how often it has found the file locked. */
  async function open(path: string): Promise<{ store: Store; waits: () => number }> {
    let waits = 0;
    const after = (ms: number, run: () => void): (() => void) => {
      waits += 1;
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    };
    const store = await sqliteStore({ path, clock: { now: () => NOW, after } });
    return { store, waits: () => waits };
  }

  async function build(store: Store, acts: readonly Act[]): Promise<void> {
    for (const act of acts) await perform(store, act);
  }

  /** Whoever brought the job to where it is remembers where its row is, and must not rely on it. */
  async function race(pair: Pair, builder: 'first' | 'second'): Promise<Outcome> {
    const path = join(folder, `${files++}.db`);
    await order({ open: path, now: NOW });
    const { store, waits } = await open(path);
    if (builder === 'second') await build(store, pair.build);
    else await order({ perform: pair.build, pauses: false });

    const paused = once(child.stdout ?? child, 'data');
    const first = order({ perform: [pair.first], pauses: true });
    await paused;
    let ended = false;
    const second = perform(store, pair.second).finally(() => (ended = true));
    await until(async () => {
      await nextTurn();
      return ended || waits() > 0;
    }, 'the second operation ends or waits');
    child.stdin?.write('.');
    const [replies, two] = await Promise.all([first, second]);
    const outcome = { one: (replies as unknown[])[0], two, ...(await stateOf(store)) };
    await Promise.all([order({ close: true }), store.close()]);
    return outcome;
  }

  return {
    async serial(pair) {
      const path = join(folder, `${files++}.db`);
      const [one, two] = [(await open(path)).store, (await open(path)).store];
      await build(one, pair.build);
      const replies = { one: await perform(one, pair.first), two: await perform(two, pair.second) };
      const outcome = { ...replies, ...(await stateOf(two)) };
      await Promise.all([one.close(), two.close()]);
      return { outcome, ends: 1 };
    },

    async races(pair) {
      return [
        { title: 'stopped in the process that had written last', outcome: await race(pair, 'first') },
        { title: 'stopped in another process than had written last', outcome: await race(pair, 'second') },
      ];
    },

    async close() {
      const gone = once(child, 'exit');
      child.kill();
      await gone;
      rmSync(folder, { recursive: true });
    },
  };
}
