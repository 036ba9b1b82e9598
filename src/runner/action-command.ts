import { RENDER_SCRIPT } from './render-script.js';
import type { Command } from './run-command.js';
import { textOf } from './template.js';
import type { Variables } from './variables.js';
import type { ActionName, Step } from './workflow.js';

/** What an action runs on a host. `args` have their values filled in; `files` are the workflow's own. */
export function actionCommand(
  step: Pick<Step, 'action' | 'timeoutMs'>,
  args: Variables,
  { files, env }: { files: Readonly<Record<string, string>>; env: Readonly<Record<string, string>> },
): Command {
  const common = {
    cwd: args['cwd'] === undefined ? null : textOf(args['cwd']),
    env: { ...env, ...textsOf(args['env']) },
    stdin: null,
    timeoutMs: step.timeoutMs,
  };
  switch (step.action satisfies ActionName) {
    case 'shell.run':
      return { ...common, argv: ['/bin/sh', '-c', textOf(args['script'])] };
    case 'script.shell':
      return {
        ...common,
        argv: ['/bin/sh', '-s', '--', ...wordsOf(args['args'])],
        stdin: files[textOf(args['file'])] ?? '',
      };
    case 'template.render':
      return {
        ...common,
        argv: ['/bin/sh', '-c', RENDER_SCRIPT, 'sh', textOf(args['dest']), textOf(args['mode'] ?? '')],
        stdin: textOf(args['content']),
      };
    default: {
      const stdin = args['stdin'] === undefined ? null : textOf(args['stdin']);
      return { ...common, argv: wordsOf(args['cmd']), stdin };
    }
  }
}

export function wordsOf(list: unknown): string[] {
  return Array.isArray(list) ? list.map(textOf) : [];
}

export function textsOf(map: unknown): Record<string, string> {
  return Object.fromEntries(Object.entries(map ?? {}).map(([name, value]) => [name, textOf(value)]));
}
