import { connect, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { pawl, task } from '../../../src/index.js';
import { serve } from '../../../src/http/serve.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const LISTENERS = 1_000;
const silent = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
const echo = task({ name: 'echo' }, ({ input }) => input);

type Listener = { readonly socket: Socket; heard: string };

function listen(port: number, path: string): Promise<Listener> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`);
    });
    const listener: Listener = { socket, heard: '' };
    socket.on('error', reject);
    socket.on('data', (part) => {
      listener.heard += part.toString('utf8');
      if (listener.heard.includes('id: ')) resolve(listener);
    });
  });
}

async function heapOf(): Promise<number> {
  for (let turn = 0; turn < 5; turn++) {
    collect();
    await new Promise(setImmediate);
  }
  return process.memoryUsage().heapUsed;
}

test('a thousand listeners at once all hear a job’s events, and leave nothing behind', async () => {
  const warnings: string[] = [];
  const warn = ({ name, message }: Error) => warnings.push(`${name}: ${message}`);
  process.on('warning', warn);
  const app = await pawl({ store: 'memory:', tasks: [echo], log: silent });
  const serving = await serve(app, { port: 0 });
  const port = Number(new URL(serving.url).port);
  const round = async (count: number): Promise<void> => {
    const listeners = await Promise.all(Array.from({ length: count }, () => listen(port, '/api/v1/events')));
    const { job } = await app.start(echo, 'hello');
    const follower = await listen(port, `/api/v1/jobs/${job.id}/stream`);
    await job.cancel();
    const hasAll = ({ heard }: Listener) =>
      /event: job\.cancelled\n.*"job_id":"[^"]+"/s.test(heard) && heard.includes(job.id);
    await expect.poll(() => listeners.filter((one) => !hasAll(one)).length).toBe(0);
    for (const { heard } of listeners) {
      const events = [...heard.matchAll(/^event: (.*)$/gm)].map((match) => match[1]);
      expect(events).toEqual(['job.created', 'job.promoted', 'job.cancelled']);
    }
    await expect.poll(() => follower.heard).toContain('event: end');
    for (const { socket } of [...listeners, follower]) socket.destroy();
  };
  await round(50);
  const before = await heapOf();
  await round(LISTENERS);
  await expect.poll(heapOf, { interval: 200 }).toBeLessThan(before + 8 * 1_048_576);
  await serving.close();
  await app.close();
  process.off('warning', warn);
  expect(warnings).toEqual([]);
});
