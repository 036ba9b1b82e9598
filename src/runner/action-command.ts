import type { Command } from './run-command.js';
import { textOf } from './template.js';
import type { Variables } from './variables.js';
import type { ActionName, Step } from './workflow.js';

/** Writes its input to a file, beside its place first, and only if it is different. Run twice, it changes nothing. */
const RENDER = `set -eu
dest=$1; mode=$2; new="$dest.pawl-$$"
trap 'rm -f "$new"' EXIT
cat > "$new"
if [ -n "$mode" ]; then chmod "$mode" "$new"; fi
if [ -f "$dest" ] && cmp -s "$new" "$dest"; then echo unchanged; else mv -f "$new" "$dest"; echo changed; fi`;

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
        argv: ['/bin/sh', '-c', RENDER, 'sh', textOf(args['dest']), textOf(args['mode'] ?? '')],
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
