import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKey } from '../../../src/engine/api-keys.js';
import { Pawl, pawl } from '../../../src/index.js';
import { serve, type Serving } from '../../../src/http/serve.js';
import { startPostgres, type PostgresServer } from '../../postgres-server.js';
import { LONG } from '../../long-mode.js';
import { parseStream } from '../event-reader.js';
import { storeFolder } from '../../store-folder.js';

const silent = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
const folder = storeFolder('pawl-http-');
let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await postgres.stop();
});

let opened = 0;
const URLS: Readonly<Record<string, () => Promise<string>>> = {
  sqlite: async () => `sqlite:${join(folder, `${opened++}.db`)}`,
  postgres: () => postgres.createDatabase(),
};

/** Two servers on one store, as two machines would run them. */
async function twoServers(url: string) {
  const apps = [await pawl({ store: url, log: silent }), await pawl({ store: url, log: silent })];
  const servers: Serving[] = [];
  for (const app of apps) servers.push(await serve(app, { port: 0 }));
  const { engine } = Pawl.inside(apps[0] as Pawl);
  const { token } = await createKey(engine, {
    tenantId: 'default',
    role: 'operator',
    name: 'two',
    by: 'test',
  });
  let turn = 0;
  return {
    post: async (path: string, body: unknown, headers: Record<string, string> = {}) => {
      const { url: to } = servers[turn++ % 2] as Serving;
      const sent = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers };
      const response = await fetch(`${to}${path}`, {
        method: 'POST',
        headers: sent,
        body: JSON.stringify(body),
      });
      const answer = (await response.json()) as { data?: Record<string, unknown>; error?: { code: string } };
      return { status: response.status, data: answer.data ?? {}, code: answer.error?.code };
    },
    stream: (headers: Record<string, string> = {}) =>
      fetch(`${(servers[turn++ % 2] as Serving).url}/api/v1/events`, {
        headers: { authorization: `Bearer ${token}`, ...headers },
      }),
    close: async () => {
      for (const one of servers) await one.close();
      for (const app of apps) await app.close();
    },
  };
}

const CHOSEN = Object.entries(URLS).filter(([name]) => LONG || name === 'postgres');

describe.each(CHOSEN)('two servers on %s', (_name, open) => {
  test('RUN-2 RUN-3 creations at once: one live run, and attempts go on', async () => {
    const { post, close } = await twoServers(await open());
    for (const round of [1, 2, 3]) {
      const all = await Promise.all(
        Array.from({ length: 20 }, (_none, n) =>
          post('/api/v1/task-runs', { task_id: 'import', idempotency_key: `${round}/${n}` }),
        ),
      );
      const made = all.filter(({ status }) => status === 201);
      expect(made).toHaveLength(1);
      expect(all.filter(({ code }) => code === 'RUN_ACTIVE')).toHaveLength(19);
      // Nobody claimed it, so that it made no attempt.
      expect(made[0]?.data['attempt']).toBe(1);
      await post(`/api/v1/task-runs/${String(made[0]?.data['run_id'])}/cancel`, {});
    }
    const same = await Promise.all(
      Array.from({ length: 20 }, () =>
        post('/api/v1/task-runs', { task_id: 'import', idempotency_key: 'one' }),
      ),
    );
    expect(new Set(same.map(({ data }) => data['run_id'])).size).toBe(1);
    await close();
  });

  test('JOB-13 one Idempotency-Key, many requests to both: one job', async () => {
    const { post, close } = await twoServers(await open());
    const ask = () => post('/api/v1/jobs', { job_type: 'w' }, { 'idempotency-key': 'k' });
    const all = await Promise.all(Array.from({ length: 40 }, ask));
    expect(all.every(({ status, code }) => status === 201 || code === 'IDEMPOTENCY_IN_PROGRESS')).toBe(true);
    const last = await ask();
    const ids = new Set(
      [last, ...all].flatMap(({ status, data }) => (status === 201 ? [data['job_id']] : [])),
    );
    expect(ids.size).toBe(1);
    await close();
  });

  test('a stream that is cut again and again, while both write, misses nothing', async () => {
    const { post, stream, close } = await twoServers(await open());
    const started: unknown[] = [];
    const heard = new Set<unknown>();
    let position: string | null = null;
    const state = { isWriting: true };
    const writing = (async () => {
      for (let n = 0; n < 30; n++) {
        const batch = await Promise.all(
          Array.from({ length: 10 }, () => post('/api/v1/jobs', { job_type: 'w' })),
        );
        started.push(...batch.map(({ data }) => data['job_id']));
      }
      state.isWriting = false;
    })();
    const first = await stream();
    position = await readSome(first, heard, { position, until: writing });
    while (state.isWriting || started.some((id) => !heard.has(id))) {
      const until = state.isWriting ? writing : null;
      position = await readSome(await stream({ 'last-event-id': position ?? '' }), heard, {
        position,
        until,
      });
    }
    await writing;
    expect(started.filter((id) => !heard.has(id))).toEqual([]);
    await close();
  });
});

/**
 * Reads a few parts of a stream, then hangs up in the middle of whatever comes. Answers where to go on. `until`: then nobody
 * writes any more, and nothing more comes for long; null: that is so already, and it takes what there is.
 */
async function readSome(
  response: Response,
  heard: Set<unknown>,
  { position, until }: { readonly position: string | null; readonly until: Promise<void> | null },
): Promise<string | null> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (let parts = 0; parts < 4; parts++) {
    const next = reader.read();
    const part = until ? await Promise.race([next, until.then(() => null)]) : await next;
    if (part === null || part.done) break;
    const { value } = part;
    text += decoder.decode(value, { stream: true });
    if (until === null ? text.includes('\n\n') : parts > 1 && text.length > 2_000) break;
  }
  await reader.cancel();
  const { events, lastId } = parseStream(until === null ? text : text.slice(0, text.length - 3));
  // Only what lies behind a position counts as heard: the rest is going to come again.
  const known = events.findLastIndex(({ id }) => id !== null) + 1;
  for (const { data } of events.slice(0, known)) heard.add((data as { job_id: string }).job_id);
  return lastId ?? position;
}
