#!/usr/bin/env node
import { once } from 'node:events';
import { text as readAll } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { run } from './program.js';

const console = {
  out: (text: string) => process.stdout.write(text),
  err: (text: string) => process.stderr.write(text),
  drained: async () => {
    if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain');
  },
  isTerminal: process.stderr.isTTY,
  readInput: () => readAll(process.stdin),
};
// Whoever reads has read enough, as `head` does: there is nobody left to tell.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});
const code = await run(process.argv.slice(2), console, [process.execPath, fileURLToPath(import.meta.url)]);
// Modules of the application may have timers and connections open, which would keep a process that is done from ending.
process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
