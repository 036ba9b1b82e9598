import { expect, test } from 'vitest';
import { Refusal } from './call.js';
import { followStream, type Message, type StreamState } from './event-stream.js';
import { text } from './shape.js';

type Answer = { readonly status?: number; readonly chunks?: readonly string[]; readonly fails?: boolean };

function streamOf(chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

async function follow(answers: readonly Answer[], from = '') {
  const stop = new AbortController();
  const asked: (string | null)[] = [];
  const messages: Message[] = [];
  const states: StreamState[] = [];
  const pauses: number[] = [];
  let turn = 0;
  const following = followStream(
    '/stream',
    {
      signal: stop.signal,
      endsWith: 'end',
      onMessages: (some) => messages.push(...some),
      onState: (state) => states.push(state),
      pause: async (ms) => void pauses.push(ms),
      fetch: async (_url, init) => {
        asked.push(new Headers(init?.headers).get('last-event-id'));
        const answer = answers[turn++];
        if (answer === undefined) {
          stop.abort();
          throw new DOMException('over', 'AbortError');
        }
        const { status = 200, chunks = [], fails = false } = answer;
        if (fails) throw new TypeError('no network');
        const bytes = chunks.map((chunk) => new TextEncoder().encode(chunk));
        return new Response(streamOf(bytes), { status });
      },
    },
    from,
  );
  const error = await following.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return { asked, messages, states, pauses, error };
}

test('after a cut it goes on behind the last id', async () => {
  const { asked, messages, states } = await follow([
    {
      chunks: [
        'retry: 1000\n\n',
        'id: 1\nevent: a\ndata: {}\n\n',
        'event: b\ndata: 2\n\nid: 3\nevent: c\nda',
      ],
    },
    { chunks: ['id: 3\nevent: c\ndata: 3\n\n: still here\n\n', 'id: 4\nevent: end\ndata: {}\n\n'] },
  ]);
  expect(asked).toEqual([null, '1']);
  expect(messages.map(({ id, event, data }) => `${id} ${event} ${data}`)).toEqual([
    '1 a {}',
    '1 b 2',
    '3 c 3',
    '4 end {}',
  ]);
  expect(states).toEqual(['connecting', 'live', 'lost', 'live', 'ended']);
});

test('what a page knows already is not asked for again', async () => {
  expect((await follow([{ chunks: ['id: 8\nevent: end\ndata: {}\n\n'] }], '7')).asked).toEqual(['7']);
});

test('without a network it tries again, more and more seldom, and at once as before when it hears something', async () => {
  const { pauses, states } = await follow([
    { fails: true },
    { status: 503 },
    { fails: true },
    { fails: true },
    { fails: true },
    { chunks: ['id: 1\ndata: 1\n\n'] },
  ]);
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 10_000, 1_000]);
  expect(states.filter((state) => state === 'live')).toHaveLength(1);
});

test('a refusal is told, and not tried again', async () => {
  const { error, asked } = await follow([{ status: 404 }]);
  expect(error).toBeInstanceOf(Refusal);
  expect(asked).toHaveLength(1);
});

test('a message that cannot be understood is told, and not taken for a lost connection', async () => {
  const stop = new AbortController();
  let asked = 0;
  const following = followStream('/stream', {
    signal: stop.signal,
    endsWith: 'end',
    onMessages: (some) => some.forEach(({ data }) => text(JSON.parse(data), 'event')),
    onState: () => undefined,
    fetch: async () => {
      asked += 1;
      return new Response(streamOf([new TextEncoder().encode('id: 1\ndata: 7\n\n')]));
    },
  });
  await expect(following).rejects.toThrow('no text at event');
  expect(asked).toBe(1);
});

test('a character that is cut in two arrives whole', async () => {
  const bytes = new TextEncoder().encode('id: 1\nevent: end\ndata: ü\n\n');
  const stop = new AbortController();
  const heard: string[] = [];
  await followStream('/stream', {
    signal: stop.signal,
    endsWith: 'end',
    onMessages: (some) => heard.push(...some.map(({ data }) => data)),
    onState: () => undefined,
    fetch: async () => new Response(streamOf([bytes.slice(0, 24), bytes.slice(24)])),
  });
  expect(heard).toEqual(['ü']);
});
