/** Writes docs/errors.md from the registry: `npm run docs:errors`. A test compares the two. */
import { writeFileSync } from 'node:fs';
import { CONTRACT_CODES, CONTRACT_NAMES } from '../src/contracts/index.js';
import { ERRORS, type ErrorCode } from '../src/errors.js';

const codes = Object.keys(ERRORS) as ErrorCode[];
const page = [
  '# Error codes',
  '',
  'Every code of the system, from [src/errors.ts](../src/errors.ts). `retryable` says whether the same request may succeed later',
  'without being changed. Codes that user code throws pass through unchanged.',
  '',
  '| code | class | retryable | meaning | what to do |',
  '| --- | --- | --- | --- | --- |',
  ...codes.map((code) => {
    const { class: kind, retryable, meaning, advice } = ERRORS[code];
    return `| \`${code}\` | ${kind} | ${retryable ? 'yes' : 'no'} | ${meaning} | ${advice} |`;
  }),
  '',
  '## What contracts call them',
  '',
  'Where a contract has a word of its own. Everything else goes by the name above.',
  '',
  `| code | ${CONTRACT_NAMES.join(' | ')} |`,
  `| --- |${CONTRACT_NAMES.map(() => ' --- |').join('')}`,
  ...(Object.keys(CONTRACT_CODES) as ErrorCode[]).map(
    (code) =>
      `| \`${code}\` | ${CONTRACT_NAMES.map((name) => (CONTRACT_CODES[code]?.[name] ? `\`${CONTRACT_CODES[code][name]}\`` : '')).join(' | ')} |`,
  ),
  '',
].join('\n');

writeFileSync('docs/errors.md', page);
