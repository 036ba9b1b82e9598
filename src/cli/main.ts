#!/usr/bin/env node
import { once } from 'node:events';
import { text as readAll } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { run, WORKING } from './program.js';

const console = {
  out: (text: string) => process.stdout.write(text),
  err: (text: string) => process.stderr.write(text),
  drained: async () => {
    if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain');
  },
  isTerminal: process.stderr.isTTY,
  readInput: () => readAll(process.stdin),
};
const args = process.argv.slice(2);
/** Throws what is wrong with a stream, unless nobody reads it any more: its reader has ended, or its terminal is closed. */
const expectUnread = (error: NodeJS.ErrnoException): void => {
  if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error;
};
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  expectUnread(error);
  // Whoever reads has read enough, as `head` does: one who only prints has nobody left to tell.
  if (!WORKING.has(args[0])) process.exit(0);
});
process.stderr.on('error', expectUnread);
const code = await run(args, console, [process.execPath, fileURLToPath(import.meta.url)]);
// Modules of the application may have timers and connections open, which would keep a process that is done from ending.
process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
