import type { Command } from 'commander';
import { utc } from '../../contracts/index.js';
import { PawlError } from '../../errors.js';
import { queueOf } from '../../kernel/index.js';
import { queueName } from '../config/config-schema.js';
import { print } from '../console.js';
import { withApp } from '../open-app.js';
import { byOption, command, examples, type Flags, type Register, type Shell } from '../shell.js';
import { table } from '../table.js';

export const registerQueues: Register = (program, shell) => {
  const queues = command(program, 'queues', 'The queues that workers work on.');
  const list = command(
    queues,
    'list',
    'The queues that live workers work on, and those that are paused.',
  ).action((_options: unknown, self: Command) =>
    shell.ends(listQueues(shell, self.optsWithGlobals<Flags>())),
  );
  examples(list, 'pawl queues list');
  for (const verb of ['pause', 'resume'] as const) {
    const description =
      verb === 'pause'
        ? 'Let no job of a queue be claimed, whosever it is. What runs goes on.'
        : 'Let the jobs of a queue be claimed again.';
    const made = command(queues, `${verb} <queue>`, description)
      .addOption(byOption())
      .action((queue: string, _options: unknown, self: Command) =>
        shell.ends(
          pauseQueue(
            shell,
            { queue, paused: verb === 'pause' },
            self.optsWithGlobals<Flags & { by: string }>(),
          ),
        ),
      );
    examples(made, `pawl queues ${verb} mail`);
  }
  examples(queues, 'pawl queues list', 'pawl queues pause mail --by ann');
};

function listQueues(shell: Shell, { json = false, ...flags }: Flags): Promise<number> {
  return withApp(shell, flags, async ({ engine }) => {
    const { queues } = await engine.store.pausedQueues();
    const { workers, now } = await engine.store.workers({ incarnations: null });
    const alive = workers.filter(({ leaseUntil }) => leaseUntil > now);
    const worked = new Map<string, number>();
    for (const { lanes } of alive) {
      for (const queue of new Set(lanes.map(queueOf))) worked.set(queue, (worked.get(queue) ?? 0) + 1);
    }
    const paused = queues.map(({ queue, by, since }) => ({ queue, paused_by: by, since: utc(since) }));
    const names = [...new Set([...worked.keys(), ...paused.map(({ queue }) => queue)])].toSorted();
    const rows = names.map((name) => {
      const pause = paused.find(({ queue }) => queue === name);
      return [name, worked.get(name) ?? 0, pause ? `paused by ${pause.paused_by}` : 'open', pause?.since];
    });
    const text =
      rows.length === 0
        ? 'No worker is alive, and no queue is paused.'
        : table(['QUEUE', 'WORKERS', 'STATE', 'SINCE'], rows);
    print(shell.console, { json, data: { queues: [...worked.keys()].toSorted(), paused }, text });
    return 0;
  });
}

async function pauseQueue(
  shell: Shell,
  { queue, paused }: { queue: string; paused: boolean },
  { json = false, by, ...flags }: Flags & { by: string },
): Promise<number> {
  const wrong = queueName.safeParse(queue).error?.issues[0];
  if (wrong !== undefined) {
    const detail = `${JSON.stringify(queue)} is no name of a queue: ${wrong.message}`;
    throw new PawlError('INVALID_OPTION', { detail, details: { option: 'queue' } });
  }
  return withApp(shell, flags, async ({ engine }) => {
    await engine.store.pauseQueue({ queue, paused, by: `operator:${by}` });
    const text = paused ? `Queue ${queue} is paused. What runs goes on.` : `Queue ${queue} is open.`;
    print(shell.console, { json, data: { queue, paused }, text });
    return 0;
  });
}
