import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { created, event, T0 } from '../testkit/index.js';
import {
  CODEC_VERSION,
  decodeEvents,
  encodeEvents,
  EVENT_TYPES,
  evolve,
  type Event,
  type Job,
} from './index.js';

const GOLDEN = new URL('../../test/golden/', import.meta.url);

/** One file for each version that was ever written: `bodies` as stored, and what they must still mean. */
type Golden = { version: number; commits: { body: string; events: Event[] }[][]; jobs: Job[] };

/** With what version 4 has added: nothing that was written before goes on with another job. */
const withLater = <T extends { spec: Job['spec'] }>(it: T): T => ({
  ...it,
  spec: { ...it.spec, continues: it.spec.continues ?? null },
});

describe('golden files', () => {
  const files = readdirSync(GOLDEN).filter((name) => name.startsWith('events-v'));

  test('there is one for every version up to this one', () => {
    expect(files.toSorted()).toEqual(
      Array.from({ length: CODEC_VERSION }, (_, i) => `events-v${i + 1}.json`),
    );
  });

  for (const file of files) {
    const golden = JSON.parse(readFileSync(new URL(file, GOLDEN), 'utf8')) as Golden;

    test(`${file} still reads as it was written, every event type in it`, () => {
      const seen = new Set<string>();
      const jobs = golden.commits.map((log) => {
        let job: Job | null = null;
        for (const { body, events: written } of log) {
          const events = written.map((one) => (one.type === 'job.created' ? withLater(one) : one));
          expect(decodeEvents(body)).toEqual({ ok: true, events });
          for (const read of events) {
            seen.add(read.type);
            job = evolve(job, read);
          }
        }
        return job;
      });
      expect(jobs).toEqual(golden.jobs.map(withLater));
      if (golden.version === CODEC_VERSION) expect([...seen].toSorted()).toEqual([...EVENT_TYPES].toSorted());
    });
  }

  test('this version writes what its golden file holds', () => {
    const golden = JSON.parse(
      readFileSync(new URL(`events-v${CODEC_VERSION}.json`, GOLDEN), 'utf8'),
    ) as Golden;
    for (const { body, events } of golden.commits.flat()) expect(encodeEvents(events)).toBe(body);
  });
});

describe('encoding', () => {
  test('a payload stands on its own line, untouched', () => {
    const output = '{"b":1, "a":"\\n"}';
    const body = encodeEvents([event('step.recorded', { output })]);
    expect(body.split('\n')).toEqual([expect.not.stringContaining('"a"'), output]);
  });

  test('the header says where each payload belongs, if some events may have none', () => {
    const events = [event('wait.completed', { payload: null }), event('step.recorded')];
    const body = encodeEvents(events);
    expect(body).toContain('"payloads":[[1,"output"]]');
    expect(decodeEvents(body)).toEqual({ ok: true, events });
    expect(decodeEvents(body.replace('[1,"output"]', '[0,"output"]'))).toMatchObject({ ok: false });
    expect(decodeEvents(body.replace('[1,"output"]', '[7,"output"]'))).toMatchObject({ ok: false });
    expect(decodeEvents(body.replace('[1,"output"]', '["1","output"]'))).toMatchObject({ ok: false });
  });

  test('else they have one each, in order, and none can be lost', () => {
    const events = [event('job.promoted'), event('step.recorded'), event('job.succeeded')];
    const body = encodeEvents(events);
    expect(body).not.toContain('payloads');
    expect(decodeEvents(body)).toEqual({ ok: true, events });
    expect(decodeEvents(body.slice(0, body.lastIndexOf('\n')))).toMatchObject({ ok: false });
  });

  test('a payload that may be missing is not taken for missing when its line is', () => {
    const body = encodeEvents([event('wait.completed', { payload: '"yes"' })]);
    expect(decodeEvents(body.slice(0, body.lastIndexOf('\n')))).toMatchObject({ ok: false });
  });

  test('what is null in a spec, or as a payload, is not written and read again', () => {
    const plain = [...created(), event('effect.reconciled', { verdict: 'notHappened', result: null })];
    const body = encodeEvents(plain);
    expect(body).not.toContain('null');
    expect(decodeEvents(body)).toEqual({ ok: true, events: plain });
  });

  test('a step that comes once, and ends when it begins, and a job that is due at once say so by saying nothing', () => {
    const recorded = event('step.recorded');
    const events = [{ ...recorded, occurrence: 1, startedAt: recorded.at }];
    const body = encodeEvents(events);
    expect(body).not.toMatch(/occurrence|startedAt/);
    expect(decodeEvents(body)).toEqual({ ok: true, events });
    const [due, later] = [created({ scheduledAt: T0 }), created({ scheduledAt: T0 + 1 })];
    expect(encodeEvents(due)).not.toContain('scheduledAt');
    expect(encodeEvents(later)).toContain('scheduledAt');
    for (const one of [due, later])
      expect(decodeEvents(encodeEvents(one))).toEqual({ ok: true, events: one });
  });

  test('time and actor are written once for events that share them', () => {
    const [first = '', ...rest] = encodeEvents(created()).split('"type":"job.promoted"');
    expect(first).toContain('"at"');
    expect(rest.join('')).not.toMatch(/"at"|"actor"/);
  });
});

test('time and actor that differ are kept, in what is put together by hand and in the rest', () => {
  const later = { at: 9, actor: 'scheduler' };
  const events = [event('job.promoted'), { ...event('step.recorded'), ...later }];
  expect(decodeEvents(encodeEvents(events))).toEqual({ ok: true, events });
  const others = [event('job.failed'), { ...event('effect.closed'), ...later }, event('job.cancelled')];
  expect(decodeEvents(encodeEvents(others))).toEqual({ ok: true, events: others });
});

test('what is put together by hand is what JSON makes of it, whatever the names hold', () => {
  const unit = fc.constantFrom('a', ' ', '"', '\\', '/', '\n', '\u0001', '\u2028', '\ud800', 'é', '😀');
  const text = fc.string({ unit });
  fc.assert(
    fc.property(fc.nat(), text, text, text, (at, name, id, incarnation) => {
      const stamp = { at, actor: `worker:${name}` };
      const started = { ...event('attempt.started'), ...stamp, attemptId: id, worker: { id, incarnation } };
      const { type, actor, attemptId, worker } = started;
      expect(encodeEvents([started])).toBe(
        JSON.stringify({ v: CODEC_VERSION, events: [{ type, at, actor, attemptId, worker }] }),
      );
      const ended = { ...event('job.succeeded'), ...stamp };
      expect(encodeEvents([ended]).split('\n')).toEqual([
        JSON.stringify({
          v: CODEC_VERSION,
          events: [{ type: ended.type, at, actor }],
        }),
        ended.result,
      ]);
      const recorded = { ...event('step.recorded'), ...stamp, step: name, occurrence: 2, startedAt: at + 1 };
      const { step, occurrence, startedAt } = recorded;
      expect(encodeEvents([recorded]).split('\n')).toEqual([
        JSON.stringify({
          v: CODEC_VERSION,
          events: [{ type: recorded.type, at, actor, step, occurrence, startedAt }],
        }),
        recorded.output,
      ]);
    }),
  );
});

test('an event among others is written as it is alone, but for what it shares with the one before', () => {
  const events = [event('step.recorded'), { ...event('job.succeeded'), at: 9, actor: 'client' }];
  const [alone] = encodeEvents(events.slice(1)).split('\n');
  const inner = alone?.slice(alone.indexOf('"events":[') + 10, -2) ?? '';
  expect(inner).toContain('job.succeeded');
  expect(encodeEvents(events)).toContain(inner);
  expect(decodeEvents(encodeEvents(events))).toEqual({ ok: true, events });
});

describe('decoding what is not a commit', () => {
  const recorded = event('step.recorded', { occurrence: 2 });
  const body = encodeEvents([recorded]);
  const unreadable = { ok: false, code: 'EVENT_UNREADABLE' };

  test.each([
    ['nothing', ''],
    ['no JSON', 'hello'],
    ['a number', '7'],
    ['null', 'null'],
    ['no version', '{"payloads":[],"events":[{}]}'],
    ['version 0', '{"v":0,"payloads":[],"events":[{}]}'],
    ['no events', '{"v":1,"payloads":[],"events":[]}'],
    ['payloads that are no list', '{"v":1,"payloads":7,"events":[{}]}'],
    ['events of no type', '{"v":1,"payloads":[],"events":[{}]}'],
    ['events whose type is no text', '{"v":4,"events":[{"type":{"toString":1,"valueOf":1}}]}'],
    ['events of an inherited type', '{"v":4,"events":[{"type":"constructor"}]}\n1'],
    ['an event that is a number', '{"v":1,"payloads":[],"events":[7]}'],
    ['an event that is null', '{"v":1,"payloads":[],"events":[null]}'],
    ['events that are no list', '{"v":1,"payloads":[],"events":{"length":1}}'],
    ['an unknown event', '{"v":1,"payloads":[],"events":[{"type":"job.sneezed","at":1,"actor":"client"}]}'],
    ['a missing payload', body.split('\n')[0] ?? ''],
    ['a payload too many', `${body}\n1`],
    ['a field of the wrong type', body.replace('"occurrence":2', '"occurrence":"1"')],
    [
      'a payload that is no text',
      '{"v":1,"payloads":[],"events":[{"type":"job.succeeded","at":1,"actor":"client","result":7}]}',
    ],
    ['a counter that is none', encodeEvents([event('checkpoint.saved', { occurrences: { quote: 0 } })])],
    ['counters that are a list', encodeEvents([event('checkpoint.saved', { occurrences: [] as never })])],
    ['an unknown field', body.replace('"occurrence":2', '"occurrence":2,"x":1')],
  ])('%s is unreadable', (_, text) => {
    expect(decodeEvents(text)).toMatchObject(unreadable);
  });

  test('a later version is refused with its own code', () => {
    expect(decodeEvents(body.replace('"v":5', '"v":6'))).toEqual({
      ok: false,
      code: 'EVENT_TOO_NEW',
      problem: 'written in version 6, known up to 5',
    });
  });

  test('an older version is upgraded step by step', () => {
    const renamed = body.replace('"step":"quote"', '"name":"quote"');
    const upgrade = ({ name, ...rest }: Readonly<Record<string, unknown>>) => ({ ...rest, step: name });
    const same = (old: object) => ({ ...old });
    const upgrades = [same, same, same, same, upgrade];
    const read = { ok: true, events: [recorded] };
    expect(decodeEvents(renamed, upgrades)).toEqual(read);
    expect(decodeEvents(renamed.replace('"v":5', '"v":1'), upgrades)).toEqual(read);
    expect(decodeEvents(body.replace('"v":5', '"v":6'), upgrades)).toEqual(read);
  });

  test('whatever the text, there is an answer', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(typeof decodeEvents(text).ok).toBe('boolean');
      }),
    );
  });
});
