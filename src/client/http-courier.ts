import { lookup } from 'node:dns/promises';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { BlockList, isIP } from 'node:net';
import { PawlError } from '../errors.js';
import type { Clock } from '../ports/clock.js';
import type { Courier, Letter } from '../ports/courier.js';
import { systemClock } from './system-clock.js';
import { withoutPassword } from './without-password.js';

/** A receiver that takes longer is tried again later. */
const TIMEOUT_MS = 10_000;

/** Addresses behind which the operator's own network lies: a tenant must not be able to reach into it. */
const PRIVATE = new BlockList();
for (const [net, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  PRIVATE.addSubnet(net, prefix, 'ipv4');
}
for (const [net, prefix] of [
  // With an IPv4 address in them, which may lead anywhere: as such, translated, and through tunnels.
  ['::', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['2001::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const) {
  PRIVATE.addSubnet(net, prefix, 'ipv6');
}

export type CourierOptions = {
  /** Also addresses of this machine and its own network, and plain HTTP: for development, and for tests. */
  readonly allowPrivate: boolean;
  /** How long a receiver may take for its answer. */
  readonly timeoutMs?: number;
  readonly clock?: Pick<Clock, 'after'>;
};

/**
 * Posts callbacks over HTTP. The name is resolved once and the connection goes to that very address, so that a second
 * answer of the name server cannot lead it elsewhere; redirects are not followed.
 */
export function httpCourier({
  allowPrivate,
  timeoutMs = TIMEOUT_MS,
  clock = systemClock,
}: CourierOptions): Courier {
  async function addressOf(url: URL): Promise<{ address: string; family: number }> {
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const found = isIP(host) ? [{ address: host, family: isIP(host) }] : await lookup(host, { all: true });
    const allowed = found.filter(({ address }) => allowPrivate || !isPrivate(address));
    const [first] = allowed;
    if (first === undefined || allowed.length < found.length) {
      throw invalid(url.href, `${host} leads to an address of a private network`);
    }
    return first;
  }

  return {
    async check(text) {
      await addressOf(readUrl(text, allowPrivate)).catch((error: unknown) => {
        throw error instanceof PawlError ? error : invalid(text, 'its host cannot be found');
      });
    },
    async deliver(letter) {
      const url = readUrl(letter.url, allowPrivate);
      return post(url, { ...(await addressOf(url)), timeoutMs, clock }, letter);
    },
  };
}

function readUrl(text: string, allowPrivate: boolean): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null) throw invalid(text, 'it is no URL');
  if (url.protocol !== 'https:' && !(allowPrivate && url.protocol === 'http:'))
    throw invalid(text, 'it must begin with https:');
  if (url.username !== '' || url.password !== '') throw invalid(text, 'it must not carry a password');
  return url;
}

/** An IPv4 address in the clothes of an IPv6 one is looked at without them. */
function isPrivate(address: string): boolean {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
  return PRIVATE.check(mapped, isIP(mapped) === 6 ? 'ipv6' : 'ipv4');
}

type Way = {
  readonly address: string;
  readonly family: number;
  readonly timeoutMs: number;
  readonly clock: Pick<Clock, 'after'>;
};

function post(
  url: URL,
  { address, family, timeoutMs, clock }: Way,
  { headers, body }: Letter,
): Promise<{ status: number }> {
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const request = send(
      url,
      {
        method: 'POST',
        headers: { ...headers, 'content-length': Buffer.byteLength(body) },
        lookup: (_host, options, answer) => {
          if (options.all) answer(null, [{ address, family }]);
          else answer(null, address, family);
        },
        agent: false,
      },
      (response) => {
        cancel();
        // What a receiver says beyond its status is of no interest, and may be endless.
        response.destroy();
        resolve({ status: response.statusCode ?? 0 });
      },
    );
    // Of the whole of it: a receiver that sends a byte now and then would never be silent.
    const cancel = clock.after(timeoutMs, () => {
      request.destroy(new Error(`no answer within ${timeoutMs} ms`));
    });
    request.on('error', (error) => {
      cancel();
      reject(error);
    });
    request.end(body);
  });
}

function invalid(url: string, problem: string): PawlError {
  return new PawlError('CALLBACK_URL_INVALID', {
    detail: `callbacks cannot go to ${JSON.stringify(withoutUser(url))}: ${problem}`,
    details: { field: 'url' },
  });
}

/** An address as errors may show it. What stands before its host may be a token also where there is no password. */
function withoutUser(url: string): string {
  const shown = withoutPassword(url);
  if (!URL.canParse(shown)) return shown;
  const address = new URL(shown);
  if (address.username === '' && address.password === '') return shown;
  return Object.assign(address, { username: '***', password: '' }).href;
}
