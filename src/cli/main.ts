#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import { run } from './program.js';

const console = {
  out: (text: string) => process.stdout.write(text),
  err: (text: string) => process.stderr.write(text),
  isTerminal: process.stderr.isTTY,
};
process.exitCode = await run(process.argv.slice(2), console, [
  process.execPath,
  fileURLToPath(import.meta.url),
]);
