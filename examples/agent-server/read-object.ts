import type { IncomingMessage } from 'node:http';
import { PawlError } from '../../src/index.js';

const MOST_BYTES = 64 * 1024;

/** The body of a request: one JSON object. */
export async function readObject(request: IncomingMessage): Promise<Record<string, unknown>> {
  if (!/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '')) {
    throw new PawlError('MEDIA_TYPE_UNSUPPORTED', { detail: 'the body is not said to be JSON' });
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Not destroyed when it is too long: the caller is still to be told.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) {
      throw new PawlError('REQUEST_TOO_LARGE', { detail: `the body has more than ${MOST_BYTES} bytes` });
    }
    chunks.push(chunk);
  }
  const body = parsed(Buffer.concat(chunks).toString());
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return { ...body };
  throw new PawlError('INVALID_REQUEST', { detail: 'the body is no JSON object' });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new PawlError('INVALID_REQUEST', { detail: 'the body is not JSON', cause });
  }
}
