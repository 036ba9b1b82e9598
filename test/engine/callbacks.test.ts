import { createServer, type Server } from 'node:http';
import { createServer as createSocketServer, type AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { httpCourier } from '../../src/client/http-courier.js';
import { pawl, task } from '../../src/index.js';

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

test('RST-11 callbacks reach a real receiver, and redirects are not followed', async () => {
  const heard: string[] = [];
  const target = await listen(
    createServer((request, response) => {
      let body = '';
      request.on('data', (part) => (body += String(part)));
      request.on('end', () => {
        heard.push((JSON.parse(body) as { status: string }).status);
        response.writeHead(200).end('x'.repeat(100_000));
      });
    }),
  );
  const elsewhere = await listen(
    createServer((_request, response) => {
      response.writeHead(302, { location: target }).end();
    }),
  );
  const job = task({ name: 'job' }, () => 1);
  const app = await pawl({ store: 'memory:', tasks: [job], callbacks: { allowPrivate: true } });
  onTestFinished(() => app.close());
  await app.work({ stopOnSignal: false });
  await app.callbacks.subscribe({ url: target });
  await app.callbacks.subscribe({ url: elsewhere });
  await (await app.start(job, null)).job.result();
  await expect.poll(() => heard).toEqual(['queued', 'running', 'success']);
  const letter = { url: elsewhere, headers: {}, body: '{"status":"redirected"}' };
  expect(await httpCourier({ allowPrivate: true }).deliver(letter)).toEqual({ status: 302 });
  await expect(httpCourier({ allowPrivate: false }).deliver(letter)).rejects.toMatchObject({
    code: 'CALLBACK_URL_INVALID',
  });
  expect(heard).toHaveLength(3);
});

test('RST-11 a receiver that never comes to the end of its answer is given up in time', async () => {
  const drip = createSocketServer((socket) => {
    socket.on('error', () => undefined);
    socket.write('HTTP/1.1 200 OK\r\nx: ');
    const dripping = setInterval(() => socket.write('x'), 20);
    socket.on('close', () => clearInterval(dripping));
  });
  await new Promise<void>((resolve) => {
    drip.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => void drip.close());
  const url = `http://127.0.0.1:${(drip.address() as AddressInfo).port}/`;
  const courier = httpCourier({ allowPrivate: true, timeoutMs: 300 });
  await expect(courier.deliver({ url, headers: {}, body: '{}' })).rejects.toThrow('no answer within 300 ms');
});
