import { Recorder } from './recorder.js';
import { ScratchApp } from './scratch-app.js';
import { tell } from './story.js';

/** What docs/cli.md says: words of ours, and what the commands really print. `build`: where the compiled sources lie. */
export async function cliPage(build: URL): Promise<string> {
  const app = new ScratchApp(build);
  try {
    const recorder = new Recorder(app);
    recorder.text(INTRODUCTION);
    await tell(recorder);
    return recorder.page();
  } finally {
    await app.remove();
  }
}

const INTRODUCTION = `# The command line

\`pawl <command> --help\` explains each command, with examples. The sessions below were recorded by running the real program
(\`npm run docs:cli\`); ids, times and durations stand in for those that differ from run to run. A test records them anew and compares.

## What all commands have in common

- **They work on the store itself**, whether a server runs or not: \`--store\`, else \`PAWL_STORE\`, else \`DATABASE_URL\`, else the config's
  \`store\`, else \`sqlite:pawl.db\`. Whoever can open the store may do everything in it: keys and roles guard the HTTP API.
- **\`--json\`** prints one line of JSON on standard output: what the HTTP API has under \`data\`. A job also has \`state\`, the engine's own
  word for where it stands. An error is one line on standard error: \`{"error":{"code","message","retryable","class"}}\`; a bug of
  ours has the code \`INTERNAL\`, and its \`stack\` too.
- **Passwords** in the address of a store are shown as \`***\`, wherever in the address they stand.
- **A store is made** by what puts something into it: \`migrate\`, \`start\`, \`server\` and their like. What only looks, or checks, says that a
  file is not there, and makes none.
- **\`--tenant\`** narrows a command to what belongs to one tenant. Without it an operator sees everything; what is created belongs to
  \`default\`.
- **Progress** goes to standard error, and only to people: not into files, not with \`--json\`. Control characters in data are replaced
  before they are printed.

| exit code | meaning                                                                                       |
| --------- | --------------------------------------------------------------------------------------------- |
| 0         | done                                                                                          |
| 1         | failed for good: the job that was waited for, a check, a store that is not what it should be   |
| 2         | wrong usage, a bad config, input that does not fit, an id that is not there, a file that cannot be read or written |
| 3         | refused by a rule: a state that does not allow it, a key that is taken, a job that was cancelled |
| 70        | a bug of ours                                                                                 |
| 75        | try again later: the store cannot be used, or the job did not end in time                      |
| 77        | not allowed                                                                                   |

## Config

\`pawl.config.ts\`, \`.mts\`, \`.js\` or \`.mjs\` in the folder where the command is run, or the file that \`--config\` or \`PAWL_CONFIG\` names.
TypeScript is run as it is, on every Node that Pawl runs on: types are removed, nothing is checked, and what needs more than that,
such as an \`enum\`, is refused. The environment overrides the file, and the command line overrides both. A setting that does not exist
is an error (\`CONFIG_INVALID\`) that names the file and the field.

| setting                | environment               | option           | meaning                                                                              |
| ---------------------- | ------------------------- | ---------------- | ------------------------------------------------------------------------------------ |
| \`store\`                | \`PAWL_STORE\`, \`DATABASE_URL\` | \`--store\`        | where jobs live; a path in the file starts from the file                                |
| \`key\` | \`PAWL_KEY\` | | what a worker whose store is a server's address is let in with ([remote-workers.md](remote-workers.md)) |
| \`tasks\`                |                           | files            | tasks, or files that export them; \`*\` is any name, \`**\` any folders                     |
| \`schedules\`            |                           |                  | made so at every start                                                                  |
| \`defaultTask\`          | \`PAWL_DEFAULT_TASK\`       | \`--default-task\` | what a scheduled task runs that names none: \`default\`, which records its payload, unless said otherwise |
| \`server.host\`          | \`PAWL_HOST\`               | \`--host\`         | 127.0.0.1; any other takes keys                                                         |
| \`server.port\`          | \`PAWL_PORT\`               | \`--port\`         | 7295                                                                                    |
| \`worker.concurrency\`   | \`PAWL_CONCURRENCY\`        | \`--concurrency\`  | how many jobs run at once: 50                                                           |
| \`worker.queues\`        | \`PAWL_QUEUES\`             | \`--queues\`       | only these; with commas in the environment                                              |
| \`worker.lease\`         | \`PAWL_LEASE\`              | \`--lease\`        | how long jobs stay with a worker that is not heard of: 30s                              |
| \`worker.poll\`          |                           |                  | how often work is looked for that nobody told of: 1s                                    |
| \`worker.drain\`         | \`PAWL_DRAIN\`              | \`--drain\`        | how long running jobs get to end: 10s                                                   |
| \`worker.workerId\`      | \`PAWL_WORKER_ID\`          | \`--worker-id\`    | a name that is kept across restarts                                                     |
| \`retention\`            |                           |                  | how long finished jobs are kept, and where their evidence goes before they are deleted: a function, or a folder, which starts from the file |
| \`callbacks\`            |                           |                  | where callbacks may go                                                                  |
| \`hooks\`                |                           |                  | functions that are told of attempts                                                     |
| \`alerts\`               |                           |                  | when somebody is to be told that something is wrong ([operating.md](operating.md#alerts)); \`false\`: never |
| \`tracing\`              |                           |                  | where executions are traced: \`openTelemetry(api)\`                                     |
| \`logLevel\`             | \`PAWL_LOG_LEVEL\`          | \`--log-level\`    | debug, info, warn or error                                                              |`;
