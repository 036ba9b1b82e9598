import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { PawlError, type ErrorCode } from '../../src/index.js';
import type { PageFile } from './page-files.js';
import type { Releases } from './releases.js';
import { streamRun } from './stream-run.js';

const STATUS: Partial<Record<ErrorCode, number>> = {
  INVALID_REQUEST: 400,
  FORBIDDEN: 403,
  JOB_NOT_FOUND: 404,
  ROUTE_NOT_FOUND: 404,
  INVALID_TRANSITION: 409,
  REQUEST_TOO_LARGE: 413,
  MEDIA_TYPE_UNSUPPORTED: 415,
  STORE_BUSY: 503,
  STORE_UNAVAILABLE: 503,
};

const POLICY = [
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'",
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
].join('; ');

const RUN = /^\/runs\/([A-Za-z0-9][A-Za-z0-9._:-]{7,127})(?:\/(events|approve|decline|cancel))?$/;
/** No other site, whatever its name leads to. */
const OWN_HOST = /^(127\.0\.0\.1|localhost)(:\d+)?$/;
const MOST_BYTES = 4_096;
const MOST_NAME = 60;

type Parts = {
  readonly releases: Releases;
  readonly files: ReadonlyMap<string, PageFile>;
  readonly closing: AbortSignal;
};

/** The page, and what it asks for. */
export function answerWith({ releases, files, closing }: Parts): RequestListener {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (!OWN_HOST.test(request.headers.host ?? '')) {
      throw new PawlError('FORBIDDEN', { detail: 'this server has another name' });
    }
    const { pathname } = new URL(request.url ?? '/', 'http://page');
    const asked = `${request.method} ${pathname}`;
    const file = request.method === 'GET' ? files.get(pathname) : undefined;
    if (file) return void response.setHeader('content-type', file.type).end(file.content);
    if (asked === 'GET /runs') return send(response, 200, { runs: await releases.list() });
    if (asked === 'POST /runs') {
      return send(response, 201, await releases.start({ name: nameOf(await bodyOf(request)) }));
    }
    const [, runId = '', action = ''] = RUN.exec(pathname) ?? [];
    if (runId !== '' && request.method === 'GET') {
      if (action === '') return send(response, 200, await releases.status(runId));
      if (action === 'events') return stream(request, response, runId);
    }
    if (action !== '' && action !== 'events' && request.method === 'POST') {
      await bodyOf(request);
      if (action === 'cancel') await releases.cancel(runId);
      else await releases.decide(runId, { approved: action === 'approve' });
      return send(response, 200, await releases.status(runId));
    }
    throw new PawlError('ROUTE_NOT_FOUND', { detail: `there is no ${asked}` });
  };

  const stream = (request: IncomingMessage, response: ServerResponse, runId: string): Promise<void> => {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const last = request.headers['last-event-id'];
    return streamRun(response, {
      seen: typeof last === 'string' && /^\d{1,15}$/.test(last) ? Number(last) : null,
      look: () => releases.status(runId),
      signal: AbortSignal.any([gone.signal, closing]),
    });
  };

  return (request, response) => {
    response.setHeader('content-security-policy', POLICY);
    response.setHeader('x-content-type-options', 'nosniff');
    response.setHeader('referrer-policy', 'no-referrer');
    response.setHeader('cache-control', 'no-store');
    answer(request, response).catch((error: unknown) => refuse(response, error));
  };
}

/** A request of the page. A form of another site could not say that it sends JSON. */
async function bodyOf(request: IncomingMessage): Promise<unknown> {
  if (request.headers['content-type'] !== 'application/json') {
    throw new PawlError('MEDIA_TYPE_UNSUPPORTED', { detail: 'the body is not said to be JSON' });
  }
  if (!(Number(request.headers['content-length']) <= MOST_BYTES)) {
    throw new PawlError('REQUEST_TOO_LARGE', { detail: `the body has no length up to ${MOST_BYTES} bytes` });
  }
  return json(request).catch((cause: unknown) => {
    throw new PawlError('INVALID_REQUEST', { detail: 'the body is not JSON', cause });
  });
}

function nameOf(body: unknown): string {
  const { name } = (typeof body === 'object' ? (body ?? {}) : {}) as { name?: unknown };
  const trimmed = typeof name === 'string' ? name.trim() : '';
  if (trimmed !== '' && trimmed.length <= MOST_NAME) return trimmed;
  throw new PawlError('INVALID_REQUEST', { detail: `name must be 1 to ${MOST_NAME} characters` });
}

function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) {
    // A stream that breaks off is taken up again by the page.
    if (!(error instanceof Error && error.name === 'AbortError')) console.error(error);
    return void response.end();
  }
  const status = error instanceof PawlError ? STATUS[error.code] : undefined;
  if (status !== undefined && error instanceof PawlError) {
    if (status === 413) response.setHeader('connection', 'close');
    return send(response, status, { error: { code: error.code, message: error.message } });
  }
  console.error(error);
  send(response, 500, { error: { code: 'INTERNAL', message: 'It could not be done; the log says why.' } });
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
