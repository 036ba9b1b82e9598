import { describe, expect, onTestFinished, test } from 'vitest';
import { task } from '../../src/index.js';
import { ROLES, type Role } from '../../src/engine/api-keys.js';
import type { Route } from '../../src/http/route.js';
import { ROUTES } from '../../src/http/route-table.js';
import { ApiRig, type Call, type RigOptions } from './api-rig.js';
import { requestOf, sampleOf, type Sample } from './sample-requests.js';
import { contentsOf, repliesIn } from './store-contents.js';

const echo = task({ name: 'echo' }, ({ input }) => input);
const courier = { check: async () => undefined, deliver: async () => ({ ok: true }) as never };

async function rigOf(options: RigOptions = {}): Promise<ApiRig> {
  const rig = await ApiRig.start({ tasks: [echo], courier, ...options });
  onTestFinished(() => rig.stop());
  return rig;
}

const guarded = ROUTES.filter(({ access }) => access !== 'public');
const title = ({ method, path }: Route): string => `${method} ${path}`;
const neededBy = ({ access }: Route): Role => (access === 'owner' || access === 'public' ? 'admin' : access);

/** Sends a route's own good request in somebody else's name. */
async function tryAs(rig: ApiRig, route: Route, sample: Sample, call: Call) {
  const { path, body } = requestOf(route, sample);
  const headers = { 'x-internal-debug': 'true', 'idempotency-key': 'tried', ...call.headers };
  return rig.call(route.method, path, { ...(body === undefined ? {} : { body }), ...call, headers });
}

/** A stream, metrics and overview, whose tenants have tests of their own, and what a worker or a browser is told about its key. */
const NO_LISTS = new Set([
  '/api/v1/events',
  '/api/v1/overview',
  '/metrics',
  '/api/v1/worker',
  '/api/v1/session',
]);
const OURS = 'http://127.0.0.1:7295';

describe('JOB-14 every route, by who asks', () => {
  test('the table is as large as the API', () => {
    expect(ROUTES.length).toBeGreaterThan(50);
    expect(new Set(ROUTES.map(title)).size).toBe(ROUTES.length);
  });

  test('no key, none that could be one, a wrong secret and a revoked one: 401, and nothing is stored', async () => {
    const rig = await rigOf();
    const sample = await sampleOf(rig);
    const made = await rig.post('/api/v1/keys', { role: 'admin', name: 'to be revoked' }, { key: 'admin' });
    await rig.call('DELETE', `/api/v1/keys/${String(made.data['key_id'])}`, { key: 'admin' });
    const good = rig.keys['admin'] ?? '';
    const bad: Readonly<Record<string, Call>> = {
      'no key': { key: null },
      'an empty one': { headers: { authorization: '' } },
      'another scheme': { headers: { authorization: `Basic ${good}` } },
      'no token': { headers: { authorization: 'Bearer' } },
      'two tokens': { headers: { authorization: `Bearer ${good} ${good}` } },
      malformed: { key: 'pawl_not-a-key' },
      'too long': { key: `${good}0` },
      'a wrong secret': { key: `${good.slice(0, -1)}${good.endsWith('0') ? '1' : '0'}` },
      'an unknown id': { key: `pawl_${'0'.repeat(26)}_${good.slice(-64)}` },
      revoked: { key: String(made.data['key']) },
      'a wrong key in a cookie': { key: null, headers: { cookie: 'pawl_session=pawl_x', origin: OURS } },
    };
    const before = await contentsOf(rig.app.store);
    for (const route of guarded) {
      for (const [who, call] of Object.entries(bad)) {
        const { status, error, headers } = await tryAs(rig, route, sample, call);
        expect([title(route), who, status, error.code]).toEqual([title(route), who, 401, 'UNAUTHENTICATED']);
        expect(headers.get('www-authenticate')).toBe('Bearer');
        expect(error['class']).toBe('security_sensitive');
      }
    }
    expect(await contentsOf(rig.app.store)).toEqual(before);
    expect(await repliesIn(rig.app.store)).toBe(0);
  });

  test('too low a role: 403, and nothing is stored', async () => {
    const rig = await rigOf();
    const sample = await sampleOf(rig);
    const before = await contentsOf(rig.app.store);
    let tried = 0;
    for (const route of guarded) {
      for (const role of ROLES.slice(0, ROLES.indexOf(neededBy(route)))) {
        const { status, error } = await tryAs(rig, route, sample, { key: role });
        expect([title(route), role, status, error.code]).toEqual([title(route), role, 403, 'FORBIDDEN']);
        tried += 1;
      }
    }
    expect(tried).toBeGreaterThan(40);
    expect(await contentsOf(rig.app.store)).toEqual(before);
    expect(await repliesIn(rig.app.store)).toBe(0);
  });

  test('what concerns all tenants is for an admin of the one that owns the installation', async () => {
    const rig = await rigOf();
    const sample = await sampleOf(rig);
    const before = await contentsOf(rig.app.store);
    for (const route of ROUTES.filter(({ access }) => access === 'owner')) {
      const { status, error } = await tryAs(rig, route, sample, { key: 'otherAdmin' });
      expect([title(route), status, error.code]).toEqual([title(route), 403, 'FORBIDDEN']);
      const { details } = (await tryAs(rig, route, sample, { key: 'viewer' })).error;
      expect(details).toEqual({ needed: 'admin', role: 'viewer' });
    }
    expect(await contentsOf(rig.app.store)).toEqual(before);
  });

  const naming = guarded.filter(({ path, access }) => path.includes('/:') && access !== 'owner');

  test.each(naming.map((route) => [title(route), route] as const))(
    '%s: another tenant’s is not found, and is left alone',
    async (_title, route) => {
      const rig = await rigOf();
      const sample = await sampleOf(rig);
      const before = (await contentsOf(rig.app.store)) as { schedules: unknown[] };
      const { status, error, body } = await tryAs(rig, route, sample, { key: 'otherAdmin' });
      const after = (await contentsOf(rig.app.store)) as { schedules: unknown[] };
      if (route.method === 'PUT') {
        // A schedule of the same name, but of their own.
        expect(status).toBe(200);
        expect(after.schedules).toHaveLength(2);
        expect(after.schedules).toContainEqual(before.schedules[0]);
        return;
      }
      expect([status, error.code]).toEqual([404, expect.stringMatching(/_NOT_FOUND$/)]);
      expect(JSON.stringify(body)).not.toContain('default tenant');
      expect(after).toEqual(before);
    },
  );

  test('lists show a tenant its own, and nothing of another’s', async () => {
    const rig = await rigOf();
    await sampleOf(rig);
    const lists = guarded.filter(
      ({ method, path, access }) =>
        method === 'GET' && !path.includes('/:') && access !== 'owner' && !NO_LISTS.has(path),
    );
    expect(lists.length).toBeGreaterThan(9);
    for (const { path } of lists) {
      const { status, data } = await rig.get(path, { key: 'otherAdmin' });
      expect(status).toBe(200);
      const [shown] = Object.values(data);
      const own = path === '/api/v1/keys' || path === '/api/v1/audit' ? 3 : 0;
      expect([path, (shown as unknown[]).length]).toEqual([path, own]);
      expect(JSON.stringify(data)).not.toContain('"default"');
    }
  });

  test('the tenant comes from the key, and a body cannot name another', async () => {
    const rig = await rigOf();
    const refused = await rig.post(
      '/api/v1/jobs',
      { job_type: 'echo', tenant_id: 'default' },
      { key: 'other' },
    );
    expect([refused.status, refused.error.code]).toEqual([400, 'INVALID_REQUEST']);
    const { data } = await rig.post('/api/v1/jobs', { job_type: 'echo' }, { key: 'other' });
    expect(data['tenant_id']).toBe('acme');
  });

  test('public routes answer anybody', async () => {
    const rig = await rigOf();
    const open = ROUTES.filter(({ access }) => access === 'public');
    expect(open.map(title)).toEqual([
      'POST /api/v1/session',
      'DELETE /api/v1/session',
      'GET /healthz',
      'GET /readyz',
      'GET /openapi.json',
    ]);
    for (const { path } of open.filter(({ method }) => method === 'GET')) {
      for (const call of [{ key: null }, { key: 'pawl_wrong' }]) {
        const response = await rig.fetch('GET', path, call);
        expect([path, response.status]).toEqual([path, 200]);
        await response.body?.cancel();
      }
    }
  });

  test('a key that is revoked here is refused at once; elsewhere within five seconds', async () => {
    const rig = await rigOf();
    const elsewhere = await ApiRig.start({ store: rig.app.store, clock: rig.app.clock, seed: 2 });
    const ask = (at: ApiRig) => at.get('/api/v1/jobs', { key: rig.keys['viewer'] ?? '' });
    expect([(await ask(rig)).status, (await ask(elsewhere)).status]).toEqual([200, 200]);
    const keys = (await rig.get('/api/v1/keys', { key: 'admin' })).data['keys'] as Record<string, string>[];
    const viewer = keys.find(({ name }) => name === 'default viewer')?.['key_id'] ?? '';
    await rig.call('DELETE', `/api/v1/keys/${viewer}`, { key: 'admin' });
    expect((await ask(rig)).status).toBe(401);
    rig.app.clock.advance(5_000);
    expect((await ask(elsewhere)).status).toBe(401);
  });
});

describe('JOB-14 without keys', () => {
  const local = '127.0.0.1:7295';

  test('once a key was made nobody gets in without one, also if it is revoked', async () => {
    const rig = await rigOf({ keys: false });
    const ask = async () => (await rig.get('/api/v1/jobs', { key: null })).status;
    expect(await ask()).toBe(200);
    const { data } = await rig.post('/api/v1/keys', { role: 'admin', name: 'the only one' }, { key: null });
    const headers = { authorization: `Bearer ${String(data['key'])}` };
    expect([await ask(), (await rig.get('/api/v1/jobs', { headers })).status]).toEqual([401, 200]);
    const path = `/api/v1/keys/${String(data['key_id'])}`;
    expect((await rig.call('DELETE', path, { headers })).status).toBe(200);
    rig.app.clock.advance(60_000);
    expect([await ask(), (await rig.get('/api/v1/jobs', { headers })).status]).toEqual([401, 401]);
  });

  test('this machine’s user may do everything, as the default tenant', async () => {
    const rig = await rigOf({ keys: false });
    for (const host of [local, '127.0.0.2:7295', 'localhost', 'LOCALHOST:80', '[::1]:7295']) {
      const { status } = await rig.get('/api/v1/jobs', { key: null, headers: { host } });
      expect([host, status]).toEqual([host, 200]);
    }
    const { data } = await rig.post('/api/v1/jobs', { job_type: 'echo' }, { key: null });
    expect(data['tenant_id']).toBe('default');
    expect((await rig.get('/api/v1/workers', { key: null })).status).toBe(200);
  });

  test.each([
    ['a name that was made to point here', { host: 'evil.example:7295' }],
    ['a name that only begins like ours', { host: 'localhost.evil.example' }],
    ['a name with our address in it', { host: '127.0.0.1.evil.example' }],
    ['no host', { host: '' }],
    ['a page of another site', { host: local, origin: 'https://evil.example' }],
    ['a page of a like-named site', { host: local, origin: 'http://localhost.evil.example' }],
    ['a page from nowhere', { host: local, origin: 'null' }],
    ['a file', { host: local, origin: 'file://' }],
    ['somebody whom a proxy passes on', { host: local, 'x-forwarded-for': '203.0.113.7' }],
    ['somebody whom a proxy passes on by the standard', { host: local, forwarded: 'for=203.0.113.7' }],
  ])('%s is refused on every route', async (_who, headers) => {
    const rig = await rigOf({ keys: false });
    const before = await contentsOf(rig.app.store);
    const sample = {
      jobId: 'job_00000',
      failedId: 'job_00000',
      taskId: 't',
      dlqId: 'd',
      scheduleId: 's',
      keyId: 'k',
      subscriptionId: 'sub',
    };
    for (const route of guarded) {
      const { status, error } = await tryAs(rig, route, sample, { key: null, headers });
      expect([title(route), status, error.code]).toEqual([title(route), 403, 'FORBIDDEN']);
    }
    expect(await contentsOf(rig.app.store)).toEqual(before);
  });

  test('a page of this machine may ask', async () => {
    const rig = await rigOf({ keys: false });
    const headers = { host: local, origin: 'http://localhost:5173' };
    expect((await rig.get('/api/v1/jobs', { key: null, headers })).status).toBe(200);
  });

  test('from the first key on a key is needed, here at once', async () => {
    const rig = await rigOf({ keys: false });
    const made = await rig.post('/api/v1/keys', { role: 'admin', name: 'first' }, { key: null });
    expect(made.status).toBe(201);
    expect((await rig.get('/api/v1/jobs', { key: null })).status).toBe(401);
    const headers = { authorization: `Bearer ${String(made.data['key'])}` };
    expect((await rig.get('/api/v1/jobs', { key: null, headers })).status).toBe(200);
  });
});
