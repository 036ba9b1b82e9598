/**
 * Runs commands at the same time, and shows what each has said once it has ended: `node scripts/side-by-side.mjs 'a …' 'b …'`.
 * Fails if one of them does.
 */
import { spawn } from 'node:child_process';

function run(command) {
  const [file, ...args] = command.split(' ');
  return new Promise((resolve) => {
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        said += chunk;
      });
    }
    child.once('error', (error) => resolve({ said: String(error), failed: true }));
    child.once('close', (code) => resolve({ said, failed: code !== 0 }));
  });
}

const outcomes = await Promise.all(
  process.argv.slice(2).map(async (command) => {
    const { said, failed } = await run(command);
    console.log(`${command}\n${said}`);
    return failed;
  }),
);
process.exitCode = outcomes.includes(true) ? 1 : 0;
