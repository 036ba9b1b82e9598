#!/usr/bin/env node
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { run } from './program.js';

const console = {
  out: (text: string) => process.stdout.write(text),
  err: (text: string) => process.stderr.write(text),
  drained: async () => {
    if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain');
  },
  isTerminal: process.stderr.isTTY,
};
process.exitCode = await run(process.argv.slice(2), console, [
  process.execPath,
  fileURLToPath(import.meta.url),
]);
