import { Agent as HttpAgent, request as requestHttp, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { ERRORS, PawlError, type ErrorCode } from '../../errors.js';
import type { Timestamp } from '../../kernel/index.js';

export type Answer<T> = T & { readonly now: Timestamp };
export type Ask = {
  readonly kind: Kind;
  readonly method: 'GET' | 'POST';
  /** Behind the server's address. */
  readonly path: string;
  /** JSON, if there is any. */
  readonly body?: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
};

/**
 * Requests of one kind share connections; kinds do not: a heartbeat must not queue behind a thousand callers who ask for
 * their results. `lease`: heartbeats and claims. More connections than these only wait for each other at the server.
 */
const CONNECTIONS = { lease: 2, wakeUp: 1, write: 4, read: 8 } as const;
export type Kind = keyof typeof CONNECTIONS;

/**
 * A server's worker protocol, one request after the other. Nobody here tries again: what a lost answer means is for those
 * to say who asked. The key is sent in a header, and stands in no error.
 */
export class Channel {
  readonly #base: URL;
  readonly #agents: Readonly<Record<Kind, HttpAgent>>;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(url: string, key: string | null) {
    this.#base = new URL(url);
    const Agent = this.#base.protocol === 'https:' ? HttpsAgent : HttpAgent;
    const agent = (kind: Kind) => new Agent({ keepAlive: true, maxSockets: CONNECTIONS[kind] });
    this.#agents = {
      lease: agent('lease'),
      wakeUp: agent('wakeUp'),
      write: agent('write'),
      read: agent('read'),
    };
    this.#headers = key === null ? {} : { authorization: `Bearer ${key}` };
  }

  /** What the server answers. Throws STORE_UNAVAILABLE where it does not, or cannot. */
  async ask<T>(asked: Ask): Promise<Answer<T>> {
    const { status, text } = await this.#send(asked);
    const envelope = parse(text);
    if (status === 200 && envelope?.success === true) return envelope.data as Answer<T>;
    throw errorOf(status, envelope);
  }

  /** What is under way is cut off. */
  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }

  #send({ kind, method, path, body, timeoutMs, signal }: Ask): Promise<{ status: number; text: string }> {
    const send = this.#base.protocol === 'https:' ? requestHttps : requestHttp;
    const prefix = this.#base.pathname.replace(/\/$/, '');
    const bytes = body === undefined ? null : Buffer.from(body);
    return new Promise((resolve, reject) => {
      const fail = (cause: Error) => reject(unavailable(`${this.#base.host} does not answer`, cause));
      const request = send(
        {
          protocol: this.#base.protocol,
          hostname: this.#base.hostname.replace(/^\[|\]$/g, ''),
          port: this.#base.port,
          path: `${prefix}/api/v1/worker${path}`,
          method,
          headers: {
            ...this.#headers,
            ...(bytes && { 'content-type': 'application/json', 'content-length': bytes.length }),
          },
          agent: this.#agents[kind],
          timeout: timeoutMs,
          ...(signal ? { signal } : {}),
        },
        (response) => {
          read(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), fail);
        },
      );
      request.on('timeout', () => request.destroy(new Error(`no answer within ${timeoutMs} ms`)));
      request.on('error', fail);
      if (bytes) request.end(bytes);
      else request.end();
    });
  }
}

async function read(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  // A connection that broke in the middle ends like one that did not.
  if (!response.complete) throw new Error('the answer broke off');
  return Buffer.concat(parts).toString('utf8');
}

type Envelope = {
  readonly success?: boolean;
  readonly data?: unknown;
  readonly error?: { readonly code?: string; readonly message?: string };
};

function parse(text: string): Envelope | null {
  try {
    return JSON.parse(text) as Envelope | null;
  } catch {
    return null;
  }
}

/** An answer that is not the server's own, such as a proxy's, says nothing about what has become of the request. */
function errorOf(status: number, envelope: Envelope | null): PawlError {
  const { code, message = '' } = envelope?.error ?? {};
  if (code === undefined || status >= 500) {
    return unavailable(`the server answers ${status}${code === undefined ? '' : ` ${code}`}`);
  }
  return refusal(code, message);
}

/** The server's no, as if it had been said here. Its message ends with the advice that belongs to the code. */
export function refusal(code: string, message: string): PawlError {
  if (!Object.hasOwn(ERRORS, code))
    return new PawlError('INVALID_REQUEST', { detail: `${code}: ${message}` });
  const known = code as ErrorCode;
  const { advice } = ERRORS[known];
  return new PawlError(known, { detail: message.replace(advice, '').replace(/[. ]+$/, '') });
}

function unavailable(detail: string, cause?: Error): PawlError {
  return new PawlError('STORE_UNAVAILABLE', {
    detail: cause ? `${detail} (${cause.message})` : detail,
    cause,
  });
}
