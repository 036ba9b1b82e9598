import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { prng, randomHistory, type RandomHistory } from '../testkit/index.js';
import {
  changesOf,
  claimableAt,
  decide,
  decodeEvents,
  encodeEvents,
  EVENT_TYPES,
  evolveCommit,
  findBreaches,
  NO_STEPS,
  replay,
  retryDelayMs,
  TRANSITIONS,
  type CommandType,
  type Job,
} from './index.js';

const histories = fc
  .record({ seed: fc.integer(), commands: fc.integer({ min: 1, max: 120 }) })
  .map(({ seed, commands }) => randomHistory(prng(seed), { commands }));
function forAll(check: (history: RandomHistory) => void): void {
  const property = fc.property(histories, (history) => {
    check(history);
  });
  fc.assert(property, { numRuns: 400 });
}

describe('on random histories', () => {
  test('the same seed gives the same history', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const twice = [1, 2].map(() => randomHistory(prng(seed), { commands: 60 }));
        expect(twice[0]?.commits).toEqual(twice[1]?.commits);
      }),
      { numRuns: 50 },
    );
  });

  test('decide is deterministic: asked again, it answers the same', () => {
    forAll(({ answers }) => {
      for (const { before, command, decision } of answers) {
        if (ASKS_STEPS.has(command.type)) continue;
        expect(decide(before, command, NO_STEPS)).toEqual(decision);
      }
    });
  });

  test('invariant 2: revisions are dense, and evolve is total on what was accepted', () => {
    forAll(({ commits, job }) => {
      expect(commits.map(({ rev }) => rev)).toEqual(commits.map((_, i) => i + 1));
      expect(replay(commits).job).toEqual(job);
    });
  });

  test('invariant 3: a snapshot plus the tail equals the whole fold', () => {
    fc.assert(
      fc.property(histories, fc.nat(), ({ commits, job }, cut) => {
        const at = 1 + (cut % commits.length);
        let resumed: Job = replay(commits.slice(0, at)).job;
        resumed = JSON.parse(JSON.stringify(resumed)) as Job;
        for (const commit of commits.slice(at)) resumed = evolveCommit(resumed, commit);
        expect(resumed).toEqual(job);
      }),
    );
  });

  test('invariants 4, 5, 18 to 21: no history breaks one', () => {
    forAll(({ commits }) => expect(findBreaches(changesOf(commits))).toEqual([]));
  });

  test('invariant 5: nothing is accepted from an attempt that is not the current one', () => {
    forAll(({ answers }) => {
      for (const { before, command, decision } of answers) {
        if (!decision.ok || !('attemptId' in command) || command.type === 'claim') continue;
        if (command.type === 'expire-deadline' && before?.status !== 'running') continue;
        expect(before).toMatchObject({ status: 'running', attemptId: command.attemptId, fenced: false });
      }
    });
  });

  test('invariant 13: retries stay within the policy and the backoff is the policy’s', () => {
    forAll(({ commits }) => {
      for (const { before, event } of changesOf(commits)) {
        if (event.type !== 'attempt.failed' || !before) continue;
        const { jobId, retry } = before.spec;
        expect(event.retryCount).toBe(before.retryCount + 1);
        expect(event.retryCount).toBeLessThanOrEqual(retry.maxRetries);
        expect(event.nextRetryAt - event.at).toBe(
          retryDelayMs(retry, { seed: jobId, retryCount: event.retryCount }),
        );
      }
    });
  });

  test('invariant 17: failed only with a dead-letter item, whose three events share a commit', () => {
    forAll(({ commits, job }) => {
      const ended = commits.filter(({ events }) => events.some(({ type }) => type === 'job.failed'));
      expect(ended.length).toBe(job.status === 'failed' ? 1 : 0);
      for (const { events } of ended) {
        expect(events.slice(-3).map(({ type }) => type)).toEqual([
          'dlq.entered',
          'dlq.recorded',
          'job.failed',
        ]);
      }
    });
  });

  test('whatever is accepted can be written and read again', () => {
    forAll(({ commits }) => {
      for (const { events } of commits)
        expect(decodeEvents(encodeEvents(events))).toEqual({ ok: true, events });
    });
  });

  test('a claim is accepted exactly when the times that stores index say so', () => {
    forAll(({ job, commits }) => {
      const probe = (now: number) =>
        decide(
          job,
          {
            type: 'claim',
            now,
            actor: 'worker:p',
            attemptId: 'probe/1',
            worker: { id: 'p', incarnation: 'p.1' },
            early: false,
          },
          NO_STEPS,
        ).ok;
      expect(commits.length).toBeGreaterThan(0);
      const dueAt = claimableAt(job);
      const { deadlineAt } = job.spec;
      for (const now of [dueAt, deadlineAt, job.updatedAt].flatMap((at) =>
        at === null ? [] : [at - 1, at],
      )) {
        const due = dueAt !== null && dueAt <= now && (deadlineAt === null || now < deadlineAt);
        expect(probe(now)).toBe(due);
      }
    });
  });

  test('the generator reaches every event type and every edge of the machine', () => {
    const types = new Set<string>();
    const edges = new Set<string>();
    for (let seed = 0; seed < 1_500; seed++) {
      for (const { before, event, after } of changesOf(randomHistory(prng(seed), { commands: 80 }).commits)) {
        types.add(event.type);
        if (before?.status !== after.status) edges.add(`${before?.status ?? null} ${after.status}`);
      }
    }
    expect([...types].toSorted()).toEqual([...EVENT_TYPES].toSorted());
    expect(TRANSITIONS.map(({ from, to }) => `${from} ${to}`).filter((edge) => !edges.has(edge))).toEqual([]);
  });
});

/** Commands whose answer depends on the step log too, which has moved on since. */
const ASKS_STEPS: ReadonlySet<CommandType> = new Set<CommandType>([
  'begin-wait',
  'consume-wait',
  'signal',
  'record-step',
  'fail-step',
  'begin-effect',
  'record-effect',
  'close-effect',
  'doubt-effect',
  'reconcile-effect',
  'resolve-effect',
  'start-child',
  'save-checkpoint',
]);
