import { createHmac } from 'node:crypto';

/** The headers of the Standard Webhooks convention: who reads them can tell that the callback is ours, and new. */
export function signed(
  { id, atMs, body }: { id: string; atMs: number; body: string },
  secret: string,
): Readonly<Record<string, string>> {
  const timestamp = `${Math.floor(atMs / 1_000)}`;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
}
