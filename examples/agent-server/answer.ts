import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { PawlError, type ErrorCode } from '../../src/index.js';
import type { Agent } from './agent.js';
import { readObject } from './read-object.js';
import { tokenCheck } from './token-check.js';

const STATUS: Partial<Record<ErrorCode, number>> = {
  INVALID_REQUEST: 400,
  INVALID_OPTION: 400,
  UNAUTHENTICATED: 401,
  JOB_NOT_FOUND: 404,
  ROUTE_NOT_FOUND: 404,
  FILE_UNREADABLE: 404,
  JOB_EXISTS: 409,
  INVALID_TRANSITION: 409,
  REQUEST_TOO_LARGE: 413,
  MEDIA_TYPE_UNSUPPORTED: 415,
  WORKFLOW_INVALID: 422,
  STORE_BUSY: 503,
  STORE_UNAVAILABLE: 503,
};

/** A name, never a path: nothing outside the folder of workflows can be meant. */
const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const RUN_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{7,127}$/;
const MOST_REASON = 1_000;

/** The agent behind HTTP. Only `/health` is answered without the token, and says nothing but whether the store answers. */
export function answerWith(agent: Agent, { token }: { token: string }): RequestListener {
  const isToken = tokenCheck(token);

  const answer = async (request: IncomingMessage): Promise<[status: number, body: unknown]> => {
    const { pathname } = new URL(request.url ?? '/', 'http://agent');
    const asked = `${request.method} ${pathname}`;
    if (asked === 'GET /health') {
      await agent.health();
      return [200, { status: 'ok' }];
    }
    if (!isToken(request.headers.authorization)) {
      throw new PawlError('UNAUTHENTICATED', { detail: 'this is not the token' });
    }
    if (asked === 'GET /heartbeat') return [200, await agent.heartbeat()];
    if (asked === 'GET /runs') return [200, { runs: await agent.list() }];
    if (asked === 'POST /runs') return [201, await agent.run(runOf(await readObject(request)))];
    const [, runId = '', action] = /^\/runs\/([^/]+)(?:\/(cancel))?$/.exec(pathname) ?? [];
    if (RUN_ID.test(runId)) {
      if (request.method === 'GET' && action === undefined) return [200, await agent.status(runId)];
      if (request.method === 'POST' && action === 'cancel') {
        return [200, await agent.cancel(runId, reasonOf(await readObject(request)))];
      }
    }
    throw new PawlError('ROUTE_NOT_FOUND', { detail: `there is no ${asked}` });
  };

  return (request, response) => {
    answer(request).then(
      ([status, body]) => send(response, status, body),
      (error: unknown) => refuse(response, error),
    );
  };
}

function runOf(body: Record<string, unknown>): { workflow: string; runId?: string } {
  expectOnly(body, ['workflow', 'run_id']);
  const { workflow, run_id: runId } = body;
  if (typeof workflow !== 'string' || !NAME.test(workflow)) {
    throw invalid('workflow', 'must be the name of a workflow: small letters, digits, - and _');
  }
  if (runId === undefined) return { workflow };
  if (typeof runId !== 'string' || !RUN_ID.test(runId)) {
    throw invalid('run_id', 'must be 8 to 128 letters, digits and . _ : -');
  }
  return { workflow, runId };
}

function reasonOf(body: Record<string, unknown>): string {
  expectOnly(body, ['reason']);
  const { reason = 'cancelled by a caller' } = body;
  if (typeof reason !== 'string' || reason.length === 0 || reason.length > MOST_REASON) {
    throw invalid('reason', `must be 1 to ${MOST_REASON} characters`);
  }
  return reason;
}

/** A field that was mistyped would be overlooked otherwise. */
function expectOnly(body: Record<string, unknown>, known: readonly string[]): void {
  const other = Object.keys(body).find((field) => !known.includes(field));
  if (other !== undefined) throw invalid(other, `is unknown: there are ${known.join(', ')}`);
}

function invalid(field: string, problem: string): PawlError {
  return new PawlError('INVALID_REQUEST', { detail: `${field} ${problem}`, details: { field } });
}

function refuse(response: ServerResponse, error: unknown): void {
  const status = error instanceof PawlError ? STATUS[error.code] : undefined;
  if (status === undefined || !(error instanceof PawlError)) {
    console.error(error);
    send(response, 500, {
      error: { code: 'INTERNAL', message: 'The agent could not do it; its log says why.' },
    });
    return;
  }
  const { code, message, details } = error;
  if (status === 401) response.setHeader('www-authenticate', 'Bearer');
  // A body that was not read to its end must not be taken for the next request.
  if (status === 413) response.setHeader('connection', 'close');
  send(response, status, { error: { code, message, details } });
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(`${JSON.stringify(body)}\n`);
}
