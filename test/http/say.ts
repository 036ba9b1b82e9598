import { connect } from 'node:net';

/** What a server says to bytes that no client library would send. */
export function say(url: string, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    let heard = '';
    socket.on('data', (part) => (heard += part.toString('latin1')));
    socket.on('error', reject);
    socket.on('close', () => resolve(heard));
    socket.write(text, 'latin1');
  });
}
