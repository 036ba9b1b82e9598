import { describe, expect, test } from 'vitest';
import { PawlError } from '../../src/errors.js';
import { eventStream } from '../../src/http/event-stream.js';
import type { FeedHub } from '../../src/http/feed-hub.js';
import type { FeedItem, FeedReader } from '../../src/http/feed-reader.js';
import { followFeed } from '../../src/http/follow-feed.js';
import type { Store } from '../../src/ports/store.js';
import { memoryStore } from '../../src/stores/memory/memory-store.js';
import { fakeClock, T0 } from '../../src/testkit/index.js';
import { ApiRig } from './api-rig.js';
import { EventReader, parseStream } from './event-reader.js';
import { EVENTS, namesOf, resumed, rigOf, start, streamOf } from './stream-ground.js';

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

  test('a message is sent however large it is; only what comes behind one that nobody takes is not', async () => {
    const rig = await rigOf();
    let hangUps = 0;
    const request = {
      engine: rig.engine,
      signal: new AbortController().signal,
      closing: new AbortController().signal,
      admitAgain: async () => undefined,
      hangUp: () => void (hangUps += 1),
    };
    const large = new Uint8Array(2_000_000);
    const taken = eventStream(request, async ({ send, hasRoom }) => {
      send(large);
      await hasRoom();
      send(large);
    });
    expect([(await taken.arrayBuffer()).byteLength > 4_000_000, hangUps]).toEqual([true, 0]);
    const left = eventStream(request, async ({ send }) => {
      send(large);
      send(large);
    });
    await rig.app.idle();
    expect(hangUps).toBe(1);
    await left.body?.cancel();
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
    const reader = { read: async () => page, forget: () => undefined } as unknown as FeedReader;
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
    const id = await start(rig, { max_retries: 50 });
    for (let n = 0; n < 30; n++) await rig.drill(id, '?transient_fail=true');
    clock.advance(200);
    await rig.app.idle();
    logs = 0;
    const late = await resumed(rig, EVENTS, from);
    await late.until(live.events.length);
    expect(namesOf(late.events)).toEqual(namesOf(live.events));
    expect(live.events.length).toBeGreaterThan(60);
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

  test('a commit that cannot be read is left out, and nobody waits because of it', async () => {
    const clock = fakeClock(T0);
    const inner = memoryStore({ clock });
    let sick = '';
    const spoilt = <Row extends { jobId: string; body: string }>(row: Row): Row =>
      row.jobId === sick ? { ...row, body: 'x' } : row;
    const store: Store = {
      ...inner,
      async feed(page) {
        const reply = await inner.feed(page);
        return { ...reply, rows: reply.rows.map(spoilt) };
      },
    };
    const rig = await rigOf({ clock, store });
    const live = await EventReader.open(rig, EVENTS);
    await rig.app.idle();
    const from = live.lastId;
    sick = await start(rig);
    const well = await start(rig);
    clock.advance(200);
    const late = await resumed(rig, EVENTS, from);
    for (const reader of [live, late]) {
      await reader.until(2);
      const jobIds = reader.events.map(({ data }) => (data as { job_id: string }).job_id);
      expect(jobIds).toEqual([well, well]);
      await reader.leave();
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
