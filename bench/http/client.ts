/**
 * Sends one request again and again on many connections, each its next as soon as the last is answered, and says how many
 * were answered. A process of its own, and no HTTP library: what the client costs must not look like the server's cost.
 */
import { connect } from 'node:net';

export type Load = {
  readonly port: number;
  readonly head: string;
  readonly body: string;
  readonly connections: number;
  readonly forMs: number;
};

const { port, head, body, connections, forMs } = JSON.parse(process.argv[2] ?? '{}') as Load;
const request = Buffer.from(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
const until = performance.now() + forMs;
let answered = 0;
let refused = 0;
const startedAt = performance.now();

function run(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    socket.setNoDelay(true);
    let heard: Buffer | null = null;
    socket.on('error', reject);
    socket.on('data', (part) => {
      heard = heard === null ? part : Buffer.concat([heard, part]);
      const end = sizeOf(heard);
      if (end === null || heard.length < end) return;
      if (heard[9] === 0x32) answered += 1;
      else refused += 1;
      heard = null;
      if (performance.now() < until) socket.write(request);
      else {
        socket.destroy();
        resolve();
      }
    });
  });
}

/** How long an answer is, once its head is there. */
function sizeOf(heard: Buffer): number | null {
  const headEnd = heard.indexOf('\r\n\r\n');
  if (headEnd < 0) return null;
  const length = /content-length: (\d+)/i.exec(heard.toString('latin1', 0, headEnd))?.[1];
  return headEnd + 4 + Number(length ?? 0);
}

await Promise.all(Array.from({ length: connections }, run));
const seconds = (performance.now() - startedAt) / 1_000;
process.stdout.write(JSON.stringify({ perSecond: answered / seconds, refused }));
