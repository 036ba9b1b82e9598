import { PawlError } from '../errors.js';

/** A request of this size is read; a thousand jobs with payloads of some kilobytes fit in. */
export const MOST_REQUEST_BYTES = 4 * 1_048_576;
/** What strangers may send: a key, with room to spare. It is read and parsed before anybody knows who they are. */
export const MOST_PUBLIC_BYTES = 4_096;
/** A payload may be 64 levels deep, and lies a few levels down in its request. */
const MOST_DEPTH = 70;

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** A request without a body says as much as one with `{}`: what it lacks, if anything, is for its route to say. */
const ABSENT = { text: '{}', value: {} } as const;

/** The JSON of a request's body. What is too large, or no JSON, is not read to its end. */
export async function readBody(
  request: Request,
  mostBytes: number = MOST_REQUEST_BYTES,
): Promise<{ readonly text: string; readonly value: unknown }> {
  const type = request.headers.get('content-type') ?? '';
  const isJson = /^application\/json\s*(;|$)/i.test(type);
  const bytes = await (isJson
    ? readBytes(request, mostBytes, () => tooLarge(mostBytes))
    : readBytes(request, 0, () => unsupported(type)));
  // A page of another address may send one without asking first, unless it has to say that it is JSON.
  if (!isJson && request.headers.has('origin')) throw unsupported(type);
  if (bytes.length === 0) return ABSENT;
  const text = decode(bytes);
  const value = parse(text);
  if (text.includes('__proto__') || text.includes('\\u')) expectNoPrototype(value);
  return { text, value };
}

async function readBytes(request: Request, mostBytes: number, refusal: () => PawlError): Promise<Uint8Array> {
  const announced = Number(request.headers.get('content-length') ?? 'NaN');
  if (announced > mostBytes) throw refusal();
  // One that is announced to be small is read at once, which is much the quickest.
  if (announced <= mostBytes) return new Uint8Array(await request.arrayBuffer());
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    size += part.length;
    if (size > mostBytes) throw refusal();
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function decode(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch (cause) {
    throw new PawlError('INVALID_REQUEST', { detail: 'the body is not UTF-8', cause });
  }
}

function parse(text: string): unknown {
  if (isDeep(text)) {
    throw new PawlError('INVALID_REQUEST', {
      detail: `the body is nested more than ${MOST_DEPTH} levels deep`,
    });
  }
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new PawlError('INVALID_REQUEST', { detail: 'the body is not JSON', cause });
  }
}

/** Brackets within strings count too: that refuses nothing but texts of that many brackets that never close. */
function isDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) at = endOfString(text, at);
    else if (code === 0x5b || code === 0x7b) {
      depth += 1;
      if (depth > MOST_DEPTH) return true;
    } else if (code === 0x5d || code === 0x7d) depth -= 1;
  }
  return false;
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x5c) at += 1;
    else if (code === 0x22) return at;
  }
  return text.length;
}

/** Code that copies members by name would change an object's prototype. */
function expectNoPrototype(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  if (Object.hasOwn(value, '__proto__')) {
    throw new PawlError('INVALID_REQUEST', { detail: "the body has a member '__proto__'" });
  }
  for (const member of Object.values(value)) expectNoPrototype(member);
}

function unsupported(type: string): PawlError {
  return new PawlError('MEDIA_TYPE_UNSUPPORTED', {
    detail: type === '' ? 'the request has no content-type' : `the content-type is '${type.slice(0, 80)}'`,
  });
}

function tooLarge(most: number): PawlError {
  return new PawlError('REQUEST_TOO_LARGE', {
    detail: `the body has more than ${most} bytes`,
    details: { most },
  });
}
