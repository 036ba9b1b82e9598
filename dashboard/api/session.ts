import { anything, flag, object, oneOf, text, type Of } from './shape.js';
import { call, get, post } from './call.js';

const ROLES = ['viewer', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

const session = object({ tenant_id: text, role: oneOf(...ROLES), actor: text, keys: flag });
export type Session = Of<typeof session>;

const PATH = '/api/v1/session';
/** The tenant that owns the installation: its admins see what concerns all. */
const OWNER = 'default';

export const readSession = (signal: AbortSignal): Promise<Session> => get(PATH, session, { signal });
export const signIn = (key: string): Promise<Session> => post(PATH, session, { key });
export const signOut = (): Promise<unknown> => call('DELETE', PATH, anything);

export function mayAct({ role }: Session, needed: Role = 'operator'): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

export function isOwner({ role, tenant_id: tenant }: Session): boolean {
  return role === 'admin' && tenant === OWNER;
}
