import { describe, expect, onTestFinished, test } from 'vitest';
import { ROUTES } from '../../src/http/route-table.js';
import { task } from '../../src/index.js';
import { ApiRig, type RigOptions } from './api-rig.js';
import { requestOf, sampleOf } from './sample-requests.js';
import { contentsOf, repliesIn } from './store-contents.js';

const SESSION = '/api/v1/session';
const OURS = 'http://127.0.0.1:7295';
const echo = task({ name: 'echo' }, ({ input }) => input);
const courier = { check: async () => undefined, deliver: async () => ({ ok: true }) as never };

async function rigOf(options: RigOptions = {}): Promise<ApiRig> {
  const rig = await ApiRig.start({ tasks: [echo], courier, ...options });
  onTestFinished(() => rig.stop());
  return rig;
}

/** What the browser of somebody who signed in with this key sends. */
async function signIn(rig: ApiRig, key: string): Promise<{ cookie: string; origin: string }> {
  const headers = { origin: OURS };
  const reply = await rig.post(SESSION, { key: rig.keys[key] }, { key: null, headers });
  expect(reply.status).toBe(200);
  return { cookie: (reply.headers.get('set-cookie') ?? '').split(';')[0] ?? '', origin: OURS };
}

describe('JOB-14 a browser that is signed in', () => {
  test('the key goes into a cookie that pages cannot read and other sites cannot send', async () => {
    const rig = await rigOf();
    const key = rig.keys['operator'] ?? '';
    const { data, headers } = await rig.post(SESSION, { key }, { key: null });
    expect(data).toEqual({
      tenant_id: 'default',
      role: 'operator',
      actor: expect.stringMatching(/^operator:/),
      keys: true,
    });
    expect(headers.get('set-cookie')).toBe(
      `pawl_session=${key}; Path=/api; HttpOnly; SameSite=Strict; Max-Age=43200`,
    );
    const tls = await rig.post(SESSION, { key }, { key: null, headers: { origin: 'https://pawl.example' } });
    expect(tls.headers.get('set-cookie')).toMatch(/; Secure$/);
  });

  test('it is who its key is, and may do what the key may', async () => {
    const rig = await rigOf();
    const headers = await signIn(rig, 'viewer');
    const { data } = await rig.get(SESSION, { key: null, headers });
    expect(data).toMatchObject({ tenant_id: 'default', role: 'viewer', keys: true });
    expect((await rig.get('/api/v1/jobs', { key: null, headers })).status).toBe(200);
    const refused = await rig.post('/api/v1/jobs', { job_type: 'echo' }, { key: null, headers });
    expect([refused.status, refused.error.code]).toEqual([403, 'FORBIDDEN']);
    const operator = await signIn(rig, 'operator');
    const made = await rig.post('/api/v1/jobs', { job_type: 'echo' }, { key: null, headers: operator });
    expect(made.status).toBe(201);
  });

  test.each(['', 'pawl_', 'pawl_wrong', 'x; Path=/', 'a'.repeat(200)])(
    'the key %j is none: no cookie is given',
    async (key) => {
      const rig = await rigOf();
      const { status, headers } = await rig.post(SESSION, { key }, { key: null });
      expect(status).toBe(key === '' ? 400 : 401);
      expect(headers.get('set-cookie')).toBeNull();
    },
  );

  test('a stranger’s request is read only as far as a key is long', async () => {
    const rig = await rigOf();
    const { status, error } = await rig.post(SESSION, { key: 'x'.repeat(5_000) }, { key: null });
    expect([status, error.code, error.details]).toEqual([413, 'REQUEST_TOO_LARGE', { most: 4_096 }]);
  });

  test('signing out takes the cookie away', async () => {
    const rig = await rigOf();
    const headers = await signIn(rig, 'viewer');
    const reply = await rig.call('DELETE', SESSION, { key: null, headers });
    expect(reply.headers.get('set-cookie')).toMatch(/^pawl_session=; .*Max-Age=0$/);
  });

  test('a key that is revoked signs its browsers out', async () => {
    const rig = await rigOf();
    const headers = await signIn(rig, 'viewer');
    const id = /pawl_session=pawl_(\w{26})_/.exec(headers.cookie)?.[1] ?? '';
    await rig.call('DELETE', `/api/v1/keys/${id}`, { key: 'admin' });
    const { status, error } = await rig.get('/api/v1/jobs', { key: null, headers });
    expect([status, error.code]).toEqual([401, 'UNAUTHENTICATED']);
  });

  test('nothing is stored for whoever signs in, whatever key the request is repeated with', async () => {
    const rig = await rigOf();
    const before = await contentsOf(rig.app.store);
    const headers = { 'idempotency-key': 'sign-in' };
    await rig.post(SESSION, { key: rig.keys['viewer'] }, { key: null, headers });
    await rig.post(SESSION, { key: 'pawl_wrong' }, { key: null, headers });
    await rig.call('DELETE', SESSION, { key: null, headers });
    expect(await contentsOf(rig.app.store)).toEqual(before);
    expect(await repliesIn(rig.app.store)).toBe(0);
  });

  test('without keys nobody has to sign in', async () => {
    const rig = await rigOf({ keys: false });
    const { data } = await rig.get(SESSION, { key: null, headers: { cookie: 'pawl_session=left-over' } });
    expect(data).toEqual({ tenant_id: 'default', role: 'admin', actor: 'operator:local', keys: false });
  });
});

describe('JOB-14 a cookie counts for requests of our own pages only', () => {
  const FOREIGN = {
    'another site': { origin: 'https://evil.example' },
    'another port': { origin: 'http://127.0.0.1:8080' },
    nowhere: { origin: 'null' },
    'a site that only says so': { origin: 'https://evil.example', 'sec-fetch-site': 'same-site' },
  };

  test('a write that does not say where it comes from, or from elsewhere: 403, and nothing is stored', async () => {
    const rig = await rigOf();
    const sample = await sampleOf(rig);
    const { cookie } = await signIn(rig, 'admin');
    const before = await contentsOf(rig.app.store);
    const writes = ROUTES.filter(({ method, access }) => method !== 'GET' && access !== 'public');
    expect(writes.length).toBeGreaterThan(30);
    for (const route of writes) {
      const { path, body } = requestOf(route, sample);
      const call = { key: null, ...(body === undefined ? {} : { body }) };
      for (const where of [{}, ...Object.values(FOREIGN)]) {
        const headers = { cookie, 'x-internal-debug': 'true', ...where };
        const { status, error } = await rig.call(route.method, path, { ...call, headers });
        expect([route.path, status, error.code]).toEqual([route.path, 403, 'FORBIDDEN']);
      }
    }
    expect(await contentsOf(rig.app.store)).toEqual(before);
  });

  test.each(Object.entries(FOREIGN))('a page of %s reads nothing', async (_where, origin) => {
    const rig = await rigOf();
    const { cookie } = await signIn(rig, 'viewer');
    const { status } = await rig.get('/api/v1/jobs', { key: null, headers: { cookie, ...origin } });
    expect(status).toBe(403);
  });

  test('behind a proxy that changes the host, the browser’s own word counts', async () => {
    const rig = await rigOf();
    const { cookie } = await signIn(rig, 'operator');
    const headers = { cookie, origin: 'https://pawl.example', 'sec-fetch-site': 'same-origin' };
    const { status } = await rig.post('/api/v1/jobs', { job_type: 'echo' }, { key: null, headers });
    expect(status).toBe(201);
  });

  test('a key in the request itself counts before a cookie', async () => {
    const rig = await rigOf();
    const headers = await signIn(rig, 'viewer');
    expect((await rig.get(SESSION, { key: 'admin', headers })).data['role']).toBe('admin');
    expect((await rig.get(SESSION, { key: 'pawl_wrong', headers })).status).toBe(401);
  });
});
