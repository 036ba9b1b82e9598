/** Writes docs/cli.md by running every command: `npm run docs:cli`. A test compares the two. */
import { writeFileSync } from 'node:fs';
import { cliPage } from './cli-page/cli-page.js';

writeFileSync('docs/cli.md', await cliPage(new URL('../', import.meta.url)));
