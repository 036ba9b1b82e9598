import { z } from 'zod';
import { ROLES } from '../../engine/api-keys.js';
import { text } from '../fields.js';
import { ok, route, type Caller, type Door } from '../route.js';
import { endedSession, sessionCookie } from '../session-cookie.js';

const ROOT = '/api/v1/session';

const sessionView = z.strictObject({
  tenant_id: z.string(),
  role: z.enum(ROLES),
  actor: z.string(),
  /** False: nobody on this machine has to sign in. */
  keys: z.boolean(),
});

export const sessionRoutes = [
  route({
    method: 'GET',
    path: ROOT,
    access: 'viewer',
    summary: 'Who is asking, and what they may do.',
    answers: { 200: sessionView },
    handle: async ({ caller, door }) => ok(await viewOf(caller, door)),
  }),
  route({
    method: 'POST',
    path: ROOT,
    access: 'public',
    summary:
      'Sign a browser in: the key goes into a cookie that pages cannot read. Programs send the key itself.',
    body: z.strictObject({ key: text(200) }),
    answers: { 200: sessionView },
    async handle({ body: { key }, door, header }) {
      const caller = await door.callerWith(key);
      const overTls = header('origin')?.startsWith('https:') ?? false;
      return { ...ok(await viewOf(caller, door)), cookie: sessionCookie(key, { overTls }) };
    },
  }),
  route({
    method: 'DELETE',
    path: ROOT,
    access: 'public',
    summary: 'Sign the browser out. The key stays valid.',
    answers: { 200: z.strictObject({ signed_out: z.literal(true) }) },
    handle: () => Promise.resolve({ ...ok({ signed_out: true }), cookie: endedSession() }),
  }),
];

async function viewOf({ tenantId, role, actor }: Caller, door: Door): Promise<z.output<typeof sessionView>> {
  return { tenant_id: tenantId, role, actor, keys: await door.hasKeys() };
}
