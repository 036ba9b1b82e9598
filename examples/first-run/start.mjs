/**
 * `npm start`: server and worker on one SQLite file, and a first job, followed to its end. Goes on until Ctrl-C.
 *
 * Nothing here that the CLI cannot do: it runs `pawl dev` and `pawl start`, and says what else there is to try.
 */
import { fileURLToPath } from 'node:url';
import { run } from '../../dist/cli/program.js';

const self = [process.execPath, fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))];
const config = fileURLToPath(new URL('pawl.config.ts', import.meta.url));
const err = (text) => process.stderr.write(text);
const out = (text) => process.stdout.write(text);

/** Resolves with the address as soon as the server has said it. */
function watchOutput() {
  let announce;
  const url = new Promise((resolve) => {
    announce = resolve;
  });
  return {
    url,
    hear: (text) => {
      out(text);
      const found = /listens on (http\S+)/.exec(text)?.[1];
      if (found) announce(found);
    },
  };
}

async function tour(url, given) {
  const input = '{"id":"1001"}';
  out(`\nA first job. The command line for it:\n\n  pawl start order '${input}' --wait\n\n`);
  const flags = ['--config', config, ...given];
  const code = await run(
    ['start', 'order', input, '--wait', '--progress', ...flags],
    { out, err, isTerminal: false },
    self,
  );
  if (code !== 0) return;
  out(`
That was server and worker, which go on until Ctrl-C. Their dashboard: ${url}/dashboard/

In another terminal:

  npm run --silent pawl -- jobs list
  npm run --silent pawl -- start approval        # a job that waits; then:
  npm run --silent pawl -- jobs why <job>
  npm run --silent pawl -- jobs signal <job> approval '{"by":"Ada"}'
  npm run --silent pawl -- start flaky --wait    # a job that fails; then:
  npm run --silent pawl -- dlq list
  npm run --silent pawl -- --help

  curl ${url}/api/v1/jobs
  curl ${url}/api/v1/jobs -H 'content-type: application/json' -d '{"job_type":"order","payload":{"id":"1002"}}'
  curl ${url}/openapi.json
  curl -N ${url}/api/v1/events                   # everything that happens, as it happens

Change examples/first-run/tasks.ts and save it: the worker begins anew, and no job is lost.
`);
}

const given = process.argv.slice(2);
const watched = watchOutput();
const ended = run(['dev', '--config', config, ...given], { out: watched.hear, err, isTerminal: false }, self);
const up = await Promise.race([watched.url, ended.then(() => null)]);
// Options that only the server knows are of no use to the first job.
if (up !== null)
  await tour(
    up,
    given.filter((_, i) => given[i] === '--store' || given[i - 1] === '--store'),
  );
process.exitCode = await ended;
