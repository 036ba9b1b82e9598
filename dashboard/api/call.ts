import { heardFrom, notHeard, signedOut } from '../live/connection.js';
import { WrongShape, type Shape } from './shape.js';

/** The server said no. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;

  constructor(status: number, { code, message, requestId }: Pick<Refusal, 'code' | 'message' | 'requestId'>) {
    super(message);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
  }
}

/** Nobody answered. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

/** Whether an act was refused for good: nothing was done, and the same again would be refused again. */
export function isFinal(error: unknown): boolean {
  return error instanceof Refusal && error.status < 500 && error.code !== 'IDEMPOTENCY_IN_PROGRESS';
}

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
export type Query = Readonly<Record<string, string | number | null | undefined>>;
type Options = {
  readonly query?: Query;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  /** A key of this one act: sent again after a lost answer, it is not done twice. */
  readonly once?: string | undefined;
};

export function get<T>(
  path: string,
  shape: Shape<T>,
  options: Pick<Options, 'query' | 'signal'> = {},
): Promise<T> {
  return call('GET', path, shape, options);
}

export function post<T>(path: string, shape: Shape<T>, body: unknown, once?: string): Promise<T> {
  return call('POST', path, shape, { body, once });
}

/** Asks the API, and reads `data` of its answer. Throws Refusal, Unreachable or WrongShape. */
export async function call<T>(
  method: Method,
  path: string,
  shape: Shape<T>,
  { query = {}, body, signal, once }: Options = {},
): Promise<T> {
  const response = await send(path + searchOf(query), {
    method,
    credentials: 'same-origin',
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(once === undefined ? {} : { 'idempotency-key': once }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  });
  const envelope = (await response.json().catch(() => null)) as Envelope | null;
  if (response.status === 401) signedOut.set(signedOut.value + 1);
  if (!response.ok) throw refusalOf(response.status, envelope);
  if (envelope === null) throw new WrongShape('the answer', 'JSON');
  return shape(envelope.data, 'data');
}

type Envelope = {
  readonly data?: unknown;
  readonly error?: { readonly code?: unknown; readonly message?: unknown };
  readonly meta?: { readonly request_id?: unknown };
};

async function send(url: string, init: RequestInit): Promise<Response> {
  try {
    const response = await fetch(url, init);
    heardFrom(response.headers);
    return response;
  } catch (cause) {
    if (init.signal?.aborted) throw cause;
    notHeard();
    throw new Unreachable('The server does not answer.', { cause });
  }
}

/** What an answer without success says, whoever wrote it: a proxy in between sends no envelope. */
export function refusalOf(status: number, envelope: Envelope | null): Refusal {
  const { code, message } = envelope?.error ?? {};
  const requestId = envelope?.meta?.request_id;
  return new Refusal(status, {
    code: typeof code === 'string' ? code : `HTTP ${status}`,
    message: typeof message === 'string' ? message : `The server answered with status ${status}.`,
    requestId: typeof requestId === 'string' ? requestId : null,
  });
}

export function searchOf(query: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== '') search.set(name, String(value));
  }
  return search.size === 0 ? '' : `?${search.toString()}`;
}
