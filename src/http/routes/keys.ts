import { z } from 'zod';
import { utc, utcOrNull } from '../../contracts/index.js';
import { createKey, findKey, listKeys, revokeKey, ROLES, type ApiKey } from '../../engine/api-keys.js';
import { text, utcTime, utcTimeOrNull } from '../fields.js';
import { created, ok, route } from '../route.js';

const ROOT = '/api/v1/keys';

const keyView = z.strictObject({
  key_id: z.string(),
  tenant_id: z.string(),
  role: z.enum(ROLES),
  name: z.string(),
  created_at: utcTime,
  created_by: z.string(),
  revoked_at: utcTimeOrNull,
});

export const keyRoutes = [
  route({
    method: 'GET',
    path: ROOT,
    access: 'admin',
    summary: "The tenant's keys, without their secrets.",
    answers: { 200: z.strictObject({ keys: z.array(keyView) }) },
    async handle({ engine, caller }) {
      return ok({ keys: (await listKeys(engine, caller.tenantId)).map(viewOf) });
    },
  }),
  route({
    method: 'POST',
    path: ROOT,
    access: 'admin',
    summary:
      'Make a key for the tenant. The key itself is in this answer only; a repeated request gets null for it.',
    body: z.strictObject({ role: z.enum(ROLES), name: text(64) }),
    answers: { 201: keyView.extend({ key: z.string().nullable() }) },
    once: 'key',
    async handle({ engine, caller: { tenantId, actor }, body, door, newId }) {
      const id = newId(0);
      const made = await findKey(engine, id);
      if (made) return created({ ...viewOf(made), key: null });
      const { key, token } = await createKey(engine, { tenantId, ...body, by: actor, id });
      door.forget();
      return created({ ...viewOf(key), key: token });
    },
  }),
  route({
    method: 'DELETE',
    path: `${ROOT}/:key_id`,
    access: 'admin',
    summary: 'Revoke a key. Other servers notice within five seconds.',
    params: z.strictObject({ key_id: text(64) }),
    answers: { 200: keyView },
    async handle({ engine, caller: { tenantId, actor }, params, door }) {
      const key = await revokeKey(engine, params.key_id, { tenantId, by: actor });
      door.forget();
      return ok(viewOf(key));
    },
  }),
];

export function viewOf(key: ApiKey): z.output<typeof keyView> {
  return {
    key_id: key.id,
    tenant_id: key.tenantId,
    role: key.role,
    name: key.name,
    created_at: utc(key.createdAt),
    created_by: key.createdBy,
    revoked_at: utcOrNull(key.revokedAt),
  };
}
