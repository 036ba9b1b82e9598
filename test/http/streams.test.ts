import { describe, expect, onTestFinished, test } from 'vitest';
import { PawlError } from '../../src/errors.js';
import { CONTRACT_NAMES } from '../../src/contracts/index.js';
import { fakeClock, T0 } from '../../src/testkit/index.js';
import type { FeedHub } from '../../src/http/feed-hub.js';
import type { FeedItem, FeedReader } from '../../src/http/feed-reader.js';
import { followFeed } from '../../src/http/follow-feed.js';
import { memoryStore } from '../../src/stores/memory/memory-store.js';
import { ApiRig, type RigOptions } from './api-rig.js';
import { EventReader, parseStream, type StreamEvent } from './event-reader.js';

const EVENTS = '/api/v1/events';

async function rigOf(options: RigOptions = {}): Promise<ApiRig> {
  const rig = await ApiRig.start(options);
  onTestFinished(() => rig.stop());
  return rig;
}

async function start(rig: ApiRig, body: object = {}, key = 'operator'): Promise<string> {
  const { data } = await rig.post('/api/v1/jobs', { job_type: 'w', payload: { n: 'ü\n' }, ...body }, { key });
  return String(data['job_id']);
}

/** A whole life: two retries, then the dead-letter queue. */
async function failingJob(rig: ApiRig, key = 'operator', admin = 'admin'): Promise<string> {
  const id = await start(rig, {}, key);
  for (let n = 0; n < 2; n++) await rig.drill(id, '?transient_fail=true', { key: admin });
  await rig.drill(id, '?force_fail=true', { key: admin });
  return id;
}

const streamOf = (id: string) => `/api/v1/jobs/${id}/stream`;
const namesOf = (events: readonly StreamEvent[]) =>
  events.map(({ data }) => (data as { event_id: string }).event_id);
const resumed = (rig: ApiRig, path: string, id: string) =>
  EventReader.open(rig, path, { headers: { 'last-event-id': id } });

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

describe('readers that are slow, or leave', () => {
  test('a reader that takes nothing is cut, and resumes from what it has', async () => {
    const rig = await rigOf();
    const response = await rig.fetch('GET', EVENTS, { key: 'viewer' });
    await rig.app.idle();
    const big = 'x'.repeat(100_000);
    const ids: string[] = [];
    for (let n = 0; n < 20; n++) {
      ids.push(await start(rig, { payload: big }));
      rig.app.clock.advance(200);
      await rig.app.idle();
    }
    // What it has not taken would otherwise wait for as long as it does not read.
    expect([rig.listeners, rig.hangUps]).toEqual([0, 1]);
    const text = await response.text();
    const { events, lastId } = parseStream(text);
    expect(events.length).toBeGreaterThan(10);
    expect(events.length).toBeLessThan(40);
    const again = await resumed(rig, EVENTS, lastId ?? '');
    await rig.app.idle();
    const seen = [...events, ...again.events].map(({ data }) => (data as { job_id: string }).job_id);
    expect(seen).toEqual(ids.flatMap((id) => [id, id]));
    await again.leave();
  });

  test('one that catches up slowly is waited for, and not cut', async () => {
    const rig = await rigOf();
    const first = await EventReader.open(rig, EVENTS);
    await rig.app.idle();
    for (let n = 0; n < 30; n++) await start(rig, { payload: 'x'.repeat(100_000) });
    const reader = await resumed(rig, EVENTS, first.lastId);
    await reader.until(60);
    expect([reader.events.length, reader.isOver]).toEqual([60, false]);
    await Promise.all([reader.leave(), first.leave()]);
  });

  test('one that stalls while it catches up is cut, instead of what happens piling up', async () => {
    const item = (n: number): FeedItem => ({
      position: `${n}`,
      jobId: `job_${n}`,
      rev: 1,
      tenantId: 'default',
      changes: [],
    });
    const page = { items: [item(0)], next: '0', isLast: true };
    let hear: (items: readonly FeedItem[]) => void = () => undefined;
    const feed = {
      listen: async (listener: typeof hear) => {
        hear = listener;
        return async () => undefined;
      },
    } as unknown as FeedHub;
    const reader = { read: async () => page } as unknown as FeedReader;
    const leaving = new AbortController();
    let sent = 0;
    let waited: (() => void) | null = null;
    const outlet = {
      send: () => void (sent += 1),
      hasRoom: () =>
        sent < 3
          ? Promise.resolve()
          : new Promise<void>((resolve) => {
              waited = resolve;
            }),
      cut: () => {
        leaving.abort();
        waited?.();
      },
      gone: leaving.signal,
    };
    const following = { reader, first: page, from: '', wanted: () => true, vocabulary: 'engine' } as const;
    const followed = followFeed(feed, following, outlet);
    await expect.poll(() => waited).not.toBeNull();
    for (let n = 0; n < 10_000; n += 500) hear(Array.from({ length: 500 }, (_, more) => item(n + more)));
    expect(leaving.signal.aborted).toBe(false);
    hear([item(10_000)]);
    await followed;
    expect(leaving.signal.aborted).toBe(true);
  });

  test.each(['viewer', 'local'])('ends when its key is revoked: %s', async (who) => {
    const rig = await rigOf({ keys: who !== 'local' });
    const reader = await EventReader.open(rig, EVENTS);
    await rig.app.idle();
    rig.app.clock.advance(30_000);
    await rig.app.idle();
    expect(rig.listeners).toBe(1);
    if (who === 'local') await rig.post('/api/v1/keys', { role: 'admin', name: 'first' });
    else {
      const { data } = await rig.get('/api/v1/keys', { key: 'admin' });
      const viewer = (data['keys'] as Record<string, string>[]).find(({ name }) => name === 'default viewer');
      await rig.call('DELETE', `/api/v1/keys/${viewer?.['key_id'] ?? ''}`, { key: 'admin' });
    }
    rig.app.clock.advance(5_000);
    await rig.app.idle();
    expect([rig.listeners, rig.hangUps]).toEqual([0, 1]);
    await reader.leave();
  });

  test('catching up with a job that goes on reads its log once, however long it is', async () => {
    const clock = fakeClock(T0);
    const inner = memoryStore({ clock });
    let logs = 0;
    const store = {
      ...inner,
      log: (...asked: Parameters<typeof inner.log>) => {
        logs += 1;
        return inner.log(...asked);
      },
    };
    const rig = await rigOf({ clock, store });
    const live = await EventReader.open(rig, EVENTS);
    await rig.app.idle();
    const from = live.lastId;
    const id = await start(rig);
    for (let n = 0; n < 30; n++) await rig.drill(id, '?transient_fail=true');
    clock.advance(200);
    await rig.app.idle();
    logs = 0;
    const late = await resumed(rig, EVENTS, from);
    await late.until(live.events.length);
    expect(namesOf(late.events)).toEqual(namesOf(live.events));
    expect(logs).toBeLessThan(3);
    await Promise.all([late.leave(), live.leave()]);
  });

  test('a quiet stream says that it is still there', async () => {
    const rig = await rigOf();
    const reader = await EventReader.open(rig, EVENTS);
    await rig.app.idle();
    rig.app.clock.advance(15_000);
    await rig.app.idle();
    expect(reader.text).toContain(': still here\n\n');
    await reader.leave();
    expect(rig.listeners).toBe(0);
  });

  test('HEAD begins no stream', async () => {
    const rig = await rigOf();
    const id = await start(rig);
    for (const path of [EVENTS, streamOf(id)]) {
      const response = await rig.fetch('HEAD', path, { key: 'viewer' });
      await rig.app.idle();
      expect([response.status, response.body, rig.listeners]).toEqual([200, null, 0]);
    }
  });

  test('a store that is down when a stream begins leaves nothing behind', async () => {
    const clock = fakeClock(T0);
    const inner = memoryStore({ clock });
    let asked = 0;
    const store = {
      ...inner,
      async feedEnd() {
        asked += 1;
        if (asked > 1) throw new PawlError('STORE_UNAVAILABLE', { detail: 'it is gone' });
        return inner.feedEnd();
      },
    };
    const rig = await rigOf({ store, clock });
    const reader = await EventReader.open(rig, EVENTS);
    await reader.untilOver();
    expect([asked, rig.listeners]).toEqual([2, 0]);
  });

  test('the server’s end is the end of its streams', async () => {
    const rig = await ApiRig.start({ served: true });
    const readers = await Promise.all(Array.from({ length: 5 }, () => EventReader.open(rig, EVENTS)));
    const closing = rig.stop();
    await expect.poll(() => readers.every(({ isOver }) => isOver)).toBe(true);
    await closing;
  });
});
