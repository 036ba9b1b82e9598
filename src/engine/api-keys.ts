import { timingSafeEqual } from 'node:crypto';
import { PawlError } from '../errors.js';
import type { Timestamp } from '../kernel/index.js';
import type { RecordRef } from '../ports/store.js';
import { recordAudit } from './audit.js';
import type { Engine } from './engine.js';
import { putOwnRecord } from './put-own.js';
import { sha256 } from './sha256.js';

/** Each may do what those before it may. */
export const ROLES = ['viewer', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

export function mayAct(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

export type ApiKey = {
  readonly id: string;
  readonly tenantId: string;
  readonly role: Role;
  /** What people know it by. */
  readonly name: string;
  readonly createdAt: Timestamp;
  readonly createdBy: string;
  readonly revokedAt: Timestamp | null;
};

type StoredKey = ApiKey & { readonly secretHash: string };

const SECRET_BYTES = 32;
const TOKEN = /^pawl_([0-9A-Z]{26})_([0-9a-f]{64})$/;
const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._:@-]{0,63}$/u;
const PAGE = 1_000;

/** A key is found by its id alone, before anyone knows whose it is: all lie in one place. */
const refOf = (id: string): RecordRef => ({ kind: 'key', tenantId: '', id });

/** Makes a key. The token is in the answer and nowhere else. */
export async function createKey(
  engine: Engine,
  {
    tenantId,
    role,
    name,
    by,
    id = engine.newId(0),
  }: Pick<ApiKey, 'tenantId' | 'role' | 'name'> & { readonly by: string; readonly id?: string },
): Promise<{ readonly key: ApiKey; readonly token: string }> {
  if (!ROLES.includes(role)) throw wrong('role', `${JSON.stringify(role)} is none of ${ROLES.join(', ')}`);
  if (!NAME.test(name)) throw wrong('name', 'takes 1 to 64 letters, digits, spaces and . _ : @ -');
  if (tenantId === '') throw wrong('tenant', 'must not be empty');
  const secret = Array.from({ length: SECRET_BYTES }, () =>
    engine.random.int(256).toString(16).padStart(2, '0'),
  ).join('');
  const key: ApiKey = { id, tenantId, role, name, createdAt: engine.now(), createdBy: by, revokedAt: null };
  const body = JSON.stringify({ ...key, secretHash: sha256(secret) } satisfies StoredKey);
  const saved = await putOwnRecord(engine, { ...refOf(id), version: 1, body }, 0);
  if (!saved) throw new PawlError('STORE_BUSY', { detail: `the key '${id}' was made at the same moment` });
  await recordAudit(engine, {
    tenantId,
    action: 'create_key',
    subject: id,
    by,
    at: key.createdAt,
    reason: name,
  });
  return { key, token: `pawl_${id}_${secret}` };
}

/** Null: there is none. */
export async function findKey(engine: Engine, id: string): Promise<ApiKey | null> {
  const { record } = await engine.store.record(refOf(id));
  if (record === null) return null;
  const { secretHash: _secret, ...key } = JSON.parse(record.body) as StoredKey;
  return key;
}

/** Oldest first, the revoked ones too. `tenantId` null: everybody's. */
export async function listKeys(engine: Engine, tenantId: string | null): Promise<ApiKey[]> {
  const keys: ApiKey[] = [];
  for (let after: { tenantId: string; id: string } | null = null; ;) {
    const { records } = await engine.store.records({ kind: 'key', tenantId: null, after, limit: PAGE });
    for (const { body } of records) {
      const { secretHash: _secret, ...key } = JSON.parse(body) as StoredKey;
      if (tenantId === null || key.tenantId === tenantId) keys.push(key);
    }
    const last = records.at(-1);
    if (last === undefined || records.length < PAGE) return keys;
    after = { tenantId: last.tenantId, id: last.id };
  }
}

/** From now on, within a few seconds, nobody gets in with it. Once more does nothing. */
export async function revokeKey(
  engine: Engine,
  id: string,
  { tenantId, by }: { readonly tenantId: string | null; readonly by: string },
): Promise<ApiKey> {
  for (;;) {
    const { record } = await engine.store.record(refOf(id));
    const stored = record && (JSON.parse(record.body) as StoredKey);
    if (!record || !stored || (tenantId !== null && stored.tenantId !== tenantId)) {
      throw new PawlError('KEY_NOT_FOUND', { detail: `there is no key '${id}'` });
    }
    const { secretHash, ...key } = stored;
    if (key.revokedAt !== null) return key;
    const revoked: ApiKey = { ...key, revokedAt: engine.now() };
    const body = JSON.stringify({ ...revoked, secretHash } satisfies StoredKey);
    const { version } = record;
    if (await putOwnRecord(engine, { ...refOf(id), version: version + 1, body }, version)) {
      const { tenantId: owner, revokedAt } = revoked;
      const entry = { tenantId: owner, action: 'revoke_key', subject: id, by };
      await recordAudit(engine, { ...entry, at: revokedAt ?? 0, reason: null });
      return revoked;
    }
  }
}

/** The key that a token is, unless it is none, a wrong one or revoked. */
export async function keyOf(engine: Engine, token: string): Promise<ApiKey | null> {
  const [, id = '', secret = ''] = TOKEN.exec(token) ?? [];
  if (id === '') return null;
  const { record } = await engine.store.record(refOf(id));
  if (record === null) return null;
  const { secretHash, ...key } = JSON.parse(record.body) as StoredKey;
  const matches = timingSafeEqual(Buffer.from(sha256(secret), 'hex'), Buffer.from(secretHash, 'hex'));
  return matches && key.revokedAt === null ? key : null;
}

function wrong(option: string, problem: string): PawlError {
  return new PawlError('INVALID_OPTION', { detail: `${option} ${problem}`, details: { option } });
}
