import { describe, expect, test } from 'vitest';
import { CONTRACT_NAMES } from '../../src/contracts/index.js';
import type { ApiRig } from './api-rig.js';
import { EventReader, parseStream, type StreamEvent } from './event-reader.js';
import { EVENTS, namesOf, resumed, rigOf, start, streamOf } from './stream-ground.js';

/** A whole life: two retries, then the dead-letter queue. */
async function failingJob(rig: ApiRig, key = 'operator', admin = 'admin'): Promise<string> {
  const id = await start(rig, {}, key);
  for (let n = 0; n < 2; n++) await rig.drill(id, '?transient_fail=true', { key: admin });
  await rig.drill(id, '?force_fail=true', { key: admin });
  return id;
}

describe('the stream of a job', () => {
  test('its whole life in order, as it happens, and then its end', async () => {
    const rig = await rigOf();
    const id = await start(rig);
    const reader = await EventReader.open(rig, streamOf(id));
    expect(reader.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    // Else a server that closes would wait for whoever holds the connection.
    expect(reader.response.headers.get('connection')).toBe('close');
    await reader.until(2);
    await rig.drill(id, '?transient_fail=true');
    expect((await reader.until(4)).map(({ event }) => event)).toEqual([
      'job.created',
      'job.promoted',
      'attempt.started',
      'attempt.failed',
    ]);
    await rig.drill(id);
    const events = await reader.untilOver();
    expect(events.at(-1)).toEqual({ id: '5', event: 'end', data: { status: 'succeeded' } });
    const { data } = await rig.get(`/api/v1/jobs/${id}/events`);
    expect(events.slice(0, -1).map((event) => event.data)).toEqual(data['events']);
  });

  test.each(CONTRACT_NAMES)('in the words of %s', async (contract) => {
    const rig = await rigOf();
    const id = await failingJob(rig);
    const reader = await EventReader.open(rig, `${streamOf(id)}?contract=${contract}`);
    const events = (await reader.untilOver()).slice(0, -1);
    const listed: Partial<Record<string, string>> = {
      'task-runs': `/api/v1/task-runs/${id}/events`,
      tasks: `/api/v1/tasks/${id}/events`,
      guarantees: `/api/jobs/${id}/events`,
    };
    const path = listed[contract];
    if (path !== undefined)
      expect(events.map(({ data }) => data)).toEqual((await rig.get(path)).data['events']);
    else expect(events.length).toBeGreaterThan(2);
    expect(new Set(events.map(({ event }) => event)).size).toBeLessThan(2);
  });

  test('resumes without loss or gap, wherever it is cut, also within a commit', async () => {
    const rig = await rigOf();
    const id = await failingJob(rig);
    const whole = await EventReader.open(rig, streamOf(id));
    const all = await whole.untilOver();
    const rest = new Map<string, StreamEvent[]>();
    for (let at = 0; at <= whole.text.length; at++) {
      const { events: heard, lastId } = parseStream(whole.text.slice(0, at));
      const from = lastId ?? '';
      if (!rest.has(from)) rest.set(from, await (await resumed(rig, streamOf(id), from)).untilOver());
      const seen = [...heard, ...(rest.get(from) ?? [])].filter(({ event }) => event !== 'end');
      expect([...new Set(namesOf(seen))]).toEqual(namesOf(all.filter(({ event }) => event !== 'end')));
    }
    expect(rest.size).toBe(8);
  });

  test.each(['x', '-1', '1.5', '1e3', '9999999999', '5 ', '０'])(
    'a bad position is refused: %j',
    async (id) => {
      const rig = await rigOf();
      const job = await start(rig);
      const sent = { 'last-event-id': encodeURIComponent(id) };
      const { status, error } = await rig.get(streamOf(job), { headers: sent });
      expect([status, error.code, error.details]).toEqual([
        400,
        'INVALID_REQUEST',
        { field: 'Last-Event-ID' },
      ]);
    },
  );
});

describe('the stream of all jobs', () => {
  test('a tenant hears of its own jobs, in order within each, from the moment it asks', async () => {
    const rig = await rigOf();
    await failingJob(rig);
    const mine = await EventReader.open(rig, EVENTS);
    const theirs = await EventReader.open(rig, EVENTS, { key: 'otherViewer' });
    const narrow = await EventReader.open(rig, `${EVENTS}?job_type=x`);
    await rig.app.idle();
    const [a, b] = [await failingJob(rig), await start(rig, { job_type: 'x' })];
    const c = await start(rig, {}, 'other');
    const { data: logA } = await rig.get(`/api/v1/jobs/${a}/events`);
    const expected = (logA['events'] as unknown[]).length + 2;
    const heard = await mine.until(expected);
    await theirs.until(2);
    await narrow.until(2);
    expect(heard).toHaveLength(expected);
    const ofA = heard.filter(({ data }) => (data as { job_id: string }).job_id === a);
    expect(ofA.map(({ data }) => data)).toEqual(logA['events']);
    const jobsOf = (reader: EventReader) => [
      ...new Set(reader.events.map(({ data }) => (data as { job_id: string }).job_id)),
    ];
    expect([jobsOf(mine), jobsOf(theirs), jobsOf(narrow)]).toEqual([[a, b], [c], [b]]);
    expect(mine.text).not.toContain(c);
    expect(theirs.text).not.toContain(a);
    await Promise.all([mine.leave(), theirs.leave(), narrow.leave()]);
    expect(rig.listeners).toBe(0);
  });

  test.each([...CONTRACT_NAMES, 'engine'])(
    'resumes without loss or gap, wherever it is cut: %s',
    async (contract) => {
      const rig = await rigOf();
      const path = `${EVENTS}?contract=${contract}`;
      const whole = await EventReader.open(rig, path);
      await rig.app.idle();
      await Promise.all([failingJob(rig), failingJob(rig), failingJob(rig, 'other', 'otherAdmin')]);
      await rig.app.run(new Promise<void>((resolve) => void rig.app.clock.after(1_000, resolve)));
      const all = whole.events.map(({ data }) => JSON.stringify(data));
      const rest = new Map<string, string[]>();
      for (let at = whole.text.indexOf('id: '); at <= whole.text.length; at += 7) {
        const { events: heard, lastId } = parseStream(whole.text.slice(0, at));
        if (lastId === null) continue;
        if (!rest.has(lastId)) {
          const again = await resumed(rig, path, lastId);
          await rig.app.idle();
          rest.set(
            lastId,
            again.events.map(({ data }) => JSON.stringify(data)),
          );
          await again.leave();
        }
        const seen = [...heard.map(({ data }) => JSON.stringify(data)), ...(rest.get(lastId) ?? [])];
        expect([...new Set(seen)]).toEqual(all);
      }
      await whole.leave();
    },
  );

  test('whoever is cut off before anything happened has a position to resume from', async () => {
    const rig = await rigOf();
    await start(rig);
    const early = await EventReader.open(rig, EVENTS);
    await rig.app.idle();
    await early.leave();
    expect(early.events).toEqual([]);
    const id = await start(rig);
    const late = await resumed(rig, EVENTS, early.lastId);
    const heard = await late.until(2);
    expect(heard.map(({ data }) => (data as { job_id: string }).job_id)).toEqual([id, id]);
    await late.leave();
  });

  test('what happens while a reader catches up comes once, and after what came before', async () => {
    const rig = await rigOf();
    const first = await EventReader.open(rig, EVENTS);
    await rig.app.idle();
    const from = first.lastId;
    for (let n = 0; n < 300; n++) await start(rig);
    const late = resumed(rig, EVENTS, from);
    const meanwhile = Promise.all(Array.from({ length: 300 }, () => start(rig)));
    const reader = await late;
    await meanwhile;
    const heard = await reader.until(1_200);
    rig.app.clock.advance(1_000);
    await rig.app.idle();
    expect(reader.events).toHaveLength(1_200);
    expect(new Set(namesOf(heard)).size).toBe(1_200);
    await Promise.all([reader.leave(), first.leave()]);
  });

  test.each(['x', '-1', '1.5', '1e3', '99999999999999999999', '0x10', '%00'])(
    'a bad position is refused: %j',
    async (id) => {
      const rig = await rigOf();
      const { status, error } = await rig.get(EVENTS, { headers: { 'last-event-id': id } });
      expect([status, error.code, error.details]).toEqual([
        400,
        'INVALID_REQUEST',
        { field: 'Last-Event-ID' },
      ]);
      expect(rig.listeners).toBe(0);
    },
  );
});
