import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Dashboard } from '../../src/http/dashboard.js';
import { serve, type Serving, type ServeOptions } from '../../src/http/serve.js';
import { testApp } from '../../src/testkit/index.js';

let folder: string;

beforeAll(() => {
  const root = mkdtempSync(join(tmpdir(), 'pawl-dashboard-'));
  folder = join(root, 'app');
  mkdirSync(join(folder, 'assets'), { recursive: true });
  writeFileSync(join(root, 'secret.html'), 'not to be served');
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>Pawl</title>');
  writeFileSync(join(folder, 'assets', 'main-1a2b.js'), 'export {};');
  writeFileSync(join(folder, 'assets', 'main-1a2b.js.map'), '{}');
  return () => rmSync(root, { recursive: true });
});

async function served(options: ServeOptions): Promise<Serving> {
  const app = await testApp({ seed: 1 });
  const serving = await serve(app.app, { port: 0, ...options });
  onTestFinished(async () => {
    await app.run(serving.close());
    await app.stop();
  });
  return serving;
}

const get = (url: string, method = 'GET') => fetch(url, { method, redirect: 'manual' });

describe('the dashboard’s files', () => {
  test('are served with a policy that allows nothing else', async () => {
    const { url, dashboard } = await served({ dashboard: folder });
    expect(dashboard).toBe(`${url}/dashboard/`);
    const page = await get(`${url}/dashboard/`);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('cache-control')).toBe('no-cache');
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/^default-src 'none';/);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    const script = await get(`${url}/dashboard/assets/main-1a2b.js`);
    expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(script.headers.get('cache-control')).toContain('immutable');
    expect(await script.text()).toBe('export {};');
    const head = await get(`${url}/dashboard/jobs`, 'HEAD');
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  test.each(['/', '/dashboard', '/?from=somewhere'])('%s leads there', async (path) => {
    const { url } = await served({ dashboard: folder });
    const response = await get(url + path);
    expect([response.status, response.headers.get('location')]).toEqual([302, '/dashboard/']);
  });

  test.each(['jobs', 'jobs/job.with.dots?status=failed', 'jobs/..%2f..%2fsecret.html'])(
    '/dashboard/%s is a view of the app',
    async (path) => {
      const { url } = await served({ dashboard: folder });
      const response = await get(`${url}/dashboard/${path}`);
      expect([response.status, await response.text()]).toEqual([200, '<!doctype html><title>Pawl</title>']);
    },
  );

  test.each([
    '/dashboard/assets/old-3c4d.js',
    '/dashboard/assets/main-1a2b.js.map',
    '/dashboards',
    '/secret.html',
  ])('%s is nothing', async (path) => {
    const { url } = await served({ dashboard: folder });
    expect((await get(url + path)).status).toBe(404);
  });

  test('what is not built, or not wanted, is not there', async () => {
    expect(await Dashboard.read(join(folder, 'nothing-here'))).toBeNull();
    const { url, dashboard } = await served({ dashboard: false });
    expect(dashboard).toBeNull();
    for (const path of ['/', '/dashboard/']) expect((await get(url + path)).status).toBe(404);
  });

  test('nothing but reading it is taken', async () => {
    const { url } = await served({ dashboard: folder });
    expect((await get(`${url}/dashboard/`, 'POST')).status).toBe(404);
  });
});
