import { describe, expect, test } from 'vitest';
import { groupCommit, type GroupOptions } from './group-commit.js';

/** Answers each group when it is told to, in tens. */
function heldBack(options: GroupOptions<number>) {
  const groups: { asks: readonly number[]; answer: () => void; fail: (error: Error) => void }[] = [];
  const commit = groupCommit<number, number>(
    (asks) =>
      new Promise((resolve, reject) => {
        groups.push({ asks, answer: () => resolve(asks.map((ask) => ask * 10)), fail: reject });
      }),
    options,
  );
  /** Until what is due has begun: a group begins at the end of a turn, and the one after it not before the next. */
  const turn = async () => {
    for (let turns = 0; turns < 2; turns++) await new Promise((resolve) => setImmediate(resolve));
  };
  const sizes = () => groups.map(({ asks }) => asks.length);
  const askedBy = (callers: number) => Promise.all(Array.from({ length: callers }, (_, n) => commit([n])));
  return { commit, groups, turn, sizes, askedBy };
}

const tick = () => new Promise<void>((resolve) => process.nextTick(resolve));

describe('group commit', () => {
  test('what is asked for in one turn goes together, and each caller gets its own answers', async () => {
    const { commit, groups, turn } = heldBack({ most: 10 });
    const answers = Promise.all([commit([1, 2]), commit([3])]);
    await turn();
    expect(groups.map(({ asks }) => asks)).toEqual([[1, 2, 3]]);
    groups[0]?.answer();
    expect(await answers).toEqual([[10, 20], [30]]);
  });

  test('what piles up meanwhile is the next group, and none is larger than allowed', async () => {
    const { commit, groups, turn } = heldBack({ most: 2 });
    const first = commit([1]);
    await turn();
    const rest = Promise.all([commit([2]), commit([3]), commit([4, 5, 6])]);
    groups[0]?.answer();
    await first;
    for (const at of [1, 2, 3]) {
      await turn();
      groups[at]?.answer();
    }
    expect(await rest).toEqual([[20], [30], [40, 50, 60]]);
    expect(groups.map(({ asks }) => asks)).toEqual([[1], [2, 3], [4, 5], [6]]);
  });

  test('those who are answered and ask again go with what waits already, not behind it', async () => {
    const { commit, groups, turn } = heldBack({ most: 10 });
    const twice = [1, 2, 3].map((ask) => commit([ask]).then(() => commit([ask + 10])));
    await turn();
    const late = commit([4]);
    groups[0]?.answer();
    await turn();
    groups[1]?.answer();
    await Promise.all([...twice, late]);
    expect(groups.map(({ asks }) => asks)).toEqual([
      [1, 2, 3],
      [4, 11, 12, 13],
    ]);
  });

  test('where two groups may be under way, a crowd is shared out between them, and a few stay together', async () => {
    const { commit, groups, turn, sizes, askedBy } = heldBack({ most: 100, abreast: 2 });
    const few = askedBy(3);
    await turn();
    const crowd = askedBy(40);
    await turn();
    // The first is still under way, so there is one place for all the others.
    expect(sizes()).toEqual([3, 40]);
    const late = commit([7]);
    await turn();
    expect(sizes()).toEqual([3, 40]);
    groups[0]?.answer();
    expect(await few).toHaveLength(3);
    await turn();
    expect(sizes()).toEqual([3, 40, 1]);
    groups[1]?.answer();
    groups[2]?.answer();
    expect([(await crowd).length, await late]).toEqual([40, [70]]);
    const next = askedBy(40);
    await turn();
    await turn();
    expect(sizes()).toEqual([3, 40, 1, 20, 20]);
    for (const group of groups) group.answer();
    expect((await next).map(([answer]) => answer)).toEqual(Array.from({ length: 40 }, (_, n) => n * 10));
  });

  test('where the database is another process, a crowd does not wait for the end of the turn', async () => {
    const { commit, groups, turn, sizes, askedBy } = heldBack({ most: 1_000, abreast: 2 });
    const all = [askedBy(249)];
    expect(sizes()).toEqual([]);
    all.push(askedBy(1));
    expect(sizes()).toEqual([125, 125]);
    all.push(askedBy(300));
    const again = commit([1]).then(() => commit([2]));
    groups[0]?.answer();
    await Promise.resolve();
    await turn();
    // What had been waiting went before those who were answered could ask again.
    expect(sizes()).toEqual([125, 125, 301]);
    for (const at of [1, 2]) groups[at]?.answer();
    await turn();
    expect(sizes()).toEqual([125, 125, 301, 1]);
    groups[3]?.answer();
    expect(await again).toEqual([20]);
    expect((await Promise.all(all)).map((answers) => answers.length)).toEqual([249, 1, 300]);
  });

  test('where the database is another process that has nothing to do, nobody waits for the end of the turn', async () => {
    const begunAtOnce = async (abreast: number): Promise<readonly (readonly number[])[]> => {
      const { commit, groups, turn } = heldBack({ most: 10, abreast });
      const answers = Promise.all([commit([1]), Promise.resolve().then(() => commit([2]))]);
      await tick();
      const begun = groups.map(({ asks }) => asks);
      await turn();
      for (const group of groups) group.answer();
      expect(await answers).toEqual([[10], [20]]);
      return begun;
    };
    expect(await begunAtOnce(2)).toEqual([[1, 2]]);
    expect(await begunAtOnce(1)).toEqual([]);
  });

  describe('where only crowds go beside another group', () => {
    const options = { most: 1_000, abreast: 2, onlyCrowds: true };

    test('a crowd begins at once, without those who are answered later in the same turn', async () => {
      const { commit, groups, turn, sizes } = heldBack(options);
      const twice = Array.from({ length: 80 }, async (_, n) => {
        await commit([n]);
        await commit([n]);
      });
      await turn();
      expect(sizes()).toEqual([40, 40]);
      // Two answers in one turn, as from two messages of a thread.
      for (const at of [0, 1]) {
        groups[at]?.answer();
        await tick();
        await tick();
      }
      expect(sizes()).toEqual([40, 40, 40, 40]);
      for (const group of groups) group.answer();
      await Promise.all(twice);
    });

    test('a few wait for the group that is under way, then for the end of the turn, and go together', async () => {
      const { commit, groups, turn } = heldBack(options);
      const first = commit([1]);
      await turn();
      const few = [2, 3].map((ask) => commit([ask]));
      await turn();
      expect(groups.map(({ asks }) => asks)).toEqual([[1]]);
      groups[0]?.answer();
      await first;
      const late = commit([4]);
      await turn();
      expect(groups.map(({ asks }) => asks)).toEqual([[1], [2, 3, 4]]);
      groups[1]?.answer();
      expect(await Promise.all([...few, late])).toEqual([[20], [30], [40]]);
    });
  });

  test('where it is this process, those who come alone do not wait for the end of the turn, but the event loop gets one', async () => {
    const commit = groupCommit<number, number>(async (asks) => asks, { most: 10 });
    let turns = 0;
    let going = true;
    const countTurns = (): void => {
      turns += 1;
      if (going) setImmediate(countTurns);
    };
    setImmediate(countTurns);
    for (let n = 0; n < 180; n++) await commit([n]);
    going = false;
    expect(turns).toBe(20);
  });

  test('where it is this process, several at once end that: the next wait until one comes alone', async () => {
    const { commit, groups, turn } = heldBack({ most: 10 });
    const begunEarly = async (...asks: number[]): Promise<boolean> => {
      const before = groups.length;
      const answers = Promise.all(asks.map((ask) => commit([ask])));
      await tick();
      const early = groups.length > before;
      await turn();
      groups.at(-1)?.answer();
      await answers;
      return early;
    };
    expect(await begunEarly(1)).toBe(false);
    expect(await begunEarly(2)).toBe(true);
    expect(await begunEarly(3, 4)).toBe(true);
    expect(await begunEarly(5)).toBe(false);
    expect(await begunEarly(6)).toBe(true);
  });

  test('where it is this process, a crowd is one group', async () => {
    const { commit, groups, turn } = heldBack({ most: 1_000 });
    const all = Promise.all(Array.from({ length: 400 }, (_, n) => commit([n])));
    expect(groups).toHaveLength(0);
    await turn();
    expect(groups.map(({ asks }) => asks.length)).toEqual([400]);
    groups[0]?.answer();
    expect(await all).toHaveLength(400);
  });

  test('what is large counts for more, and goes all the same', async () => {
    const { commit, groups, turn } = heldBack({ most: 10, weigh: (ask) => ask });
    const all = Promise.all([6, 5, 3, 20, 1, 2].map((ask) => commit([ask])));
    for (let at = 0; at < 4; at++) {
      await turn();
      groups[at]?.answer();
    }
    expect(await all).toHaveLength(6);
    expect(groups.map(({ asks }) => asks)).toEqual([[6], [5, 3], [20], [1, 2]]);
  });

  test('a list that is too large goes in parts, whatever it is that makes it large', async () => {
    const { commit, groups, turn } = heldBack({ most: 10, weigh: (ask) => ask });
    const answers = commit([4, 4, 4, 25, 1, 9, 1]);
    for (let at = 0; at < 5; at++) {
      await turn();
      groups[at]?.answer();
    }
    expect(await answers).toEqual([40, 40, 40, 250, 10, 90, 10]);
    expect(groups.map(({ asks }) => asks)).toEqual([[4, 4], [4], [25], [1, 9], [1]]);
  });

  test('a group that fails fails for all of it, and the next goes on', async () => {
    const { commit, groups, turn } = heldBack({ most: 10 });
    const failing = Promise.allSettled([commit([1]), commit([2])]);
    await turn();
    groups[0]?.fail(new Error('no'));
    expect((await failing).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const next = commit([3]);
    await turn();
    groups[1]?.answer();
    expect(await next).toEqual([30]);
  });

  test('when too much is waiting, more is refused at once and can be sent again', async () => {
    const { commit, groups, turn } = heldBack({ most: 1, mostWaiting: 2 });
    const running = commit([1]);
    await turn();
    const waiting = Promise.all([commit([2]), commit([3])]);
    await expect(commit([4])).rejects.toMatchObject({ code: 'STORE_BUSY', retryable: true });
    for (const at of [0, 1, 2]) {
      groups[at]?.answer();
      await turn();
    }
    expect([await running, ...(await waiting)]).toEqual([[10], [20], [30]]);
  });

  test('of many asks, one that fails early is reported when all are answered', async () => {
    const { turn } = heldBack({ most: 1 });
    const commit = groupCommit<number, number>(
      async (asks) => {
        await turn();
        return asks.map((ask) => (ask === 1 ? Promise.reject(new Error('early')) : ask));
      },
      { most: 1 },
    );
    await expect(commit([1, 2, 3])).rejects.toThrow('early');
  });

  test('an answer that takes longer holds up nobody else', async () => {
    let finish: (answer: string) => void = () => undefined;
    const slow = new Promise<string>((resolve) => {
      finish = resolve;
    });
    const commit = groupCommit<string, string>(
      async (asks) => asks.map((ask) => (ask === 'slow' ? slow : ask)),
      { most: 10 },
    );
    const waiting = commit(['slow']);
    expect(await commit(['a'])).toEqual(['a']);
    expect(await commit(['b'])).toEqual(['b']);
    finish('at last');
    expect(await waiting).toEqual(['at last']);
  });
});

test('where the database is this process, the event loop has its turn between the parts of what is too much for one', async () => {
  const seen: string[] = [];
  const ask = groupCommit<number, number>(
    (asks) => {
      seen.push(`part of ${asks.length}`);
      setImmediate(() => void seen.push('turn'));
      return asks;
    },
    { most: 10, weigh: (weight) => weight },
  );
  expect(await ask([5, 5, 10, 1])).toEqual([5, 5, 10, 1]);
  expect(seen.slice(0, 5).join()).toBe('part of 2,turn,part of 1,turn,part of 1');
});
