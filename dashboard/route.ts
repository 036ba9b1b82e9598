/** Where the app stands on its server. */
export const BASE = '/dashboard';

export const VIEWS = [
  'overview',
  'alerts',
  'jobs',
  'dead-letters',
  'effects',
  'schedules',
  'queues',
  'workers',
  'callbacks',
  'audit',
] as const;
export type View = (typeof VIEWS)[number];

export type Route = {
  /** Null for an address that leads nowhere. */
  readonly view: View | null;
  /** The one thing that is shown, where a view has such: a job, a dead letter. */
  readonly id: string | null;
  readonly query: Readonly<Record<string, string>>;
};

const WITH_ONE: ReadonlySet<View> = new Set(['jobs', 'dead-letters']);
const NOWHERE = { view: null, id: null };

export function readRoute({ pathname, search }: { pathname: string; search: string }): Route {
  const query = Object.fromEntries(new URLSearchParams(search));
  const below = pathname.slice(BASE.length).split('/').filter(Boolean);
  if (below.length > 2) return { ...NOWHERE, query };
  const [name = 'overview', part] = below;
  const view = VIEWS.find((one) => one === name);
  if (view === undefined) return { ...NOWHERE, query };
  if (part === undefined) return { view, id: null, query };
  const id = decoded(part);
  return WITH_ONE.has(view) && id !== null ? { view, id, query } : { ...NOWHERE, query };
}

type Target = {
  readonly id?: string | null;
  readonly query?: Readonly<Record<string, string | null | undefined>>;
};

/** The address of a view. What is empty in the query is left out, so that one view has one address. */
export function hrefOf(view: View, { id, query = {} }: Target = {}): string {
  const path = view === 'overview' ? `${BASE}/` : `${BASE}/${view}`;
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== '') search.set(name, value);
  }
  const one = id === null || id === undefined ? '' : `/${encodeURIComponent(id)}`;
  return path + one + (search.size === 0 ? '' : `?${search.toString()}`);
}

function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}
