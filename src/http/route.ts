import { z } from 'zod';
import type { ContractName } from '../contracts/index.js';
import type { Role } from '../engine/api-keys.js';
import type { Engine } from '../engine/engine.js';
import type { TaskDefinition } from '../worker/task-definition.js';
import type { FeedHub } from './feed-hub.js';
import type { Metrics } from './metrics.js';
import type { RunStatesBeside } from './run-states-beside.js';
import type { WorkerDesk } from './worker-protocol/worker-desk.js';

/** On whose behalf a request is made. The tenant comes from the key alone. */
export type Caller = {
  readonly tenantId: string;
  readonly role: Role;
  /** `operator:<key id>`; without keys, `operator:local`. */
  readonly actor: string;
};

/** Where callers are told apart. */
export interface Door {
  /** Who makes this request. Throws UNAUTHENTICATED or FORBIDDEN. */
  admit(headers: Headers, to: Pick<Route, 'method' | 'access'>): Promise<Caller>;
  /** Who has this key. Throws UNAUTHENTICATED. */
  callerWith(token: string): Promise<Caller>;
  /** Whether a key was ever made, also if it is revoked: from then on nobody gets in without one. */
  hasKeys(): Promise<boolean>;
  /** Keys were made or revoked here: what is known of them is out of date. */
  forget(): void;
}

/** What every route can reach. */
export type Backend = {
  readonly engine: Engine;
  /** The tasks that this process knows, by name; the latest version of each. */
  readonly tasks: ReadonlyMap<string, TaskDefinition>;
  /** What `POST /api/v1/tasks` runs when no `job_type` is given. */
  readonly defaultTask: string;
  readonly feed: FeedHub;
  readonly metrics: Metrics;
  /** Where workers are served that reach the store through this server. */
  readonly desk: WorkerDesk;
  readonly door: Door;
  /** Where the states of runs are kept that are tracked. */
  readonly runs: RunStatesBeside;
  /** Whether the worker of this process is able to work; null where there is none. */
  readonly isWorking: () => boolean | null;
  /** Fires when the server closes: streams end. */
  readonly closing: AbortSignal;
};

export type ApiRequest<P, Q, B> = Backend & {
  readonly caller: Caller;
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** Ids for what the request creates: the same again when it is repeated with its Idempotency-Key. */
  readonly newId: (bucket?: number) => string;
  readonly header: (name: string) => string | undefined;
  /** Fires when the caller has gone away. */
  readonly signal: AbortSignal;
  /** Throws if the caller may not ask this any more: the key was revoked meanwhile. */
  readonly admitAgain: () => Promise<unknown>;
  /** Ends the connection, whatever was still to be sent. */
  readonly hangUp: () => void;
};

/** What goes into the envelope. `cookie` is only for routes that take no key: an answer that is given again has none. */
export type Answer = {
  readonly status: 200 | 201 | 202;
  readonly data: unknown;
  readonly cookie?: string;
};

/** Who may call: anyone, whoever has a role, or an admin of the tenant that owns the installation. */
export type Access = 'public' | Role | 'owner';

export type Route = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** With `:name` for its parameters. */
  readonly path: string;
  readonly access: Access;
  /** Whose words errors are said in. */
  readonly contract: ContractName;
  readonly summary: string;
  readonly params: z.ZodType;
  readonly query: z.ZodType;
  /** Null for requests without one. */
  readonly body: z.ZodType | null;
  /** What `data` holds, by status; a text is the media type of an answer without an envelope. */
  readonly answers: Readonly<Partial<Record<200 | 201 | 202, z.ZodType | string>>>;
  /** The member of `data` that is a secret. It is in the first answer only, and null if a request is repeated. */
  readonly once?: string;
  readonly handle: (request: ApiRequest<unknown, unknown, unknown>) => Promise<Answer | Response>;
};

type Defined<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> = Omit<
  Route,
  'params' | 'query' | 'body' | 'handle' | 'contract'
> & {
  readonly contract?: ContractName;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  readonly handle: (request: ApiRequest<z.output<P>, z.output<Q>, z.output<B>>) => Promise<Answer | Response>;
};

const NOTHING = z.strictObject({});

/** Defines a route: its types come from its schemas. */
export function route<
  P extends z.ZodType = typeof NOTHING,
  Q extends z.ZodType = typeof NOTHING,
  B extends z.ZodType = z.ZodNull,
>({ contract = 'jobs', params, query, body, handle, ...rest }: Defined<P, Q, B>): Route {
  return {
    ...rest,
    contract,
    params: params ?? NOTHING,
    query: query ?? NOTHING,
    body: body ?? null,
    handle: handle as unknown as Route['handle'],
  };
}

/** Whether an Idempotency-Key counts. Not where anybody may ask: nobody is told apart there, and nothing is stored for strangers. */
export function isKeyed({ method, access }: Pick<Route, 'method' | 'access'>): boolean {
  return method !== 'GET' && access !== 'public';
}

export function ok(data: unknown): Answer {
  return { status: 200, data };
}

export function created(data: unknown): Answer {
  return { status: 201, data };
}
