import { pathToFileURL } from 'node:url';
import { compile } from '../compile.js';

/** Compiles the CLI into a folder of its own, and answers with where that is. */
export function compileCli(name: string): URL {
  return pathToFileURL(`${compile(`cli-${name}`, 'test/cli-processes/tsconfig.run.json')}/`);
}
