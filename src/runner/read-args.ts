import type { Node } from 'yaml';
import { toMs, type Duration } from '../index.js';
import { isForRun, type ActionName } from './workflow.js';
import type { Variables } from './variables.js';
import type { Members, YamlReader } from './yaml-reader.js';

/** A file that an action needs, and where the workflow names it. */
export type NeededFile = {
  readonly path: string;
  readonly node: Node | null;
  readonly isTemplate: boolean;
};

type Shape = { readonly known: readonly string[]; readonly required?: readonly string[] };

const SHAPES: Readonly<Record<Exclude<ActionName, 'env.set'>, Shape>> = {
  'cmd.run': { known: ['cmd', 'cwd', 'env', 'stdin'], required: ['cmd'] },
  'shell.run': { known: ['script', 'cwd', 'env'], required: ['script'] },
  'script.shell': { known: ['file', 'args', 'cwd', 'env'], required: ['file'] },
  'template.render': { known: ['src', 'content', 'dest', 'mode'], required: ['dest'] },
  'wait.until': { known: ['cmd', 'every', 'cwd', 'env'], required: ['cmd'] },
  'wait.event': { known: ['event', 'reason'], required: ['event'] },
  'wait.approval': { known: ['event', 'reason'] },
};

const EVENT = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;
const ENV = /^[A-Za-z_][A-Za-z0-9_]*$/;
const MODE = /^0?[0-7]{3}$/;

/** The arguments of an action, as they stand in the file; templates are filled in later, for each host. */
export function readArgs(
  reader: YamlReader,
  { action, node, place }: { action: ActionName; node: Node | null | undefined; place: Node | null },
): { args: Variables; files: NeededFile[] } {
  const files: NeededFile[] = [];
  if (node === undefined || node === null) {
    const { required = [] } = action === 'env.set' ? { required: ['a variable'] } : SHAPES[action];
    if (required.length > 0) reader.report(place, `${action} has no args: it needs ${required.join(', ')}`);
    return { args: {}, files };
  }
  if (action === 'env.set') {
    expectEnv(reader, node, 'args of env.set');
  } else {
    const members = reader.map(node, `args of ${action}`, SHAPES[action]);
    if (members !== null) checkMembers(reader, action, members);
    for (const name of ['file', 'src']) {
      const found = members?.get(name);
      const path = found === undefined ? null : reader.text(found.value, name);
      if (path !== null) files.push({ path, node: found?.value ?? node, isTemplate: name === 'src' });
    }
  }
  return { args: (reader.plain(node) ?? {}) as Variables, files };
}

function checkMembers(reader: YamlReader, action: ActionName, members: Members): void {
  for (const [name, { value }] of members) {
    if (name === 'cmd') expectCommand(reader, value, `cmd of ${action}`);
    else if (name === 'args') reader.texts(value, `args of ${action}`);
    else if (name === 'env') expectEnv(reader, value, `env of ${action}`);
    else if (name === 'every') readDuration(reader, value, 'every');
    else if (name === 'mode') expectMode(reader, value);
    else if (name === 'event') expectMatch(reader, value, { what: 'event', pattern: EVENT });
    else reader.text(value, `${name} of ${action}`);
  }
  const place = members.get('dest')?.key ?? null;
  if (action === 'template.render' && members.has('src') === members.has('content')) {
    reader.report(place, 'template.render takes src or content, one of them');
  }
  if (isForRun(action)) return;
  const file = members.get('file') ?? members.get('src');
  if (file && String(reader.plain(file.value)).includes('{{')) {
    reader.report(
      file.value,
      'which file is read cannot depend on variables: it is read before anything runs',
    );
  }
}

/** A command is its name and its arguments, one by one: no shell reads it. */
export function expectCommand(reader: YamlReader, node: Node | null, what: string): string[] {
  const value = reader.plain(node);
  if (typeof value === 'string') {
    reader.report(node, `${what} is a text: write a list, one member for each argument, or use shell.run`);
    return [];
  }
  const words = reader.list(node, what).map((one) => commandWord(reader, one, what));
  if (words.length === 0) reader.report(node, `${what} is empty`);
  return words;
}

/** An argument may be empty. */
function commandWord(reader: YamlReader, node: Node | null, what: string): string {
  const value = reader.plain(node);
  if (['string', 'number', 'boolean'].includes(typeof value)) return String(value);
  reader.report(node, `a member of ${what} is no text`);
  return '';
}

export function readDuration(reader: YamlReader, node: Node | null, what: string): number {
  try {
    return toMs(reader.plain(node) as Duration, what);
  } catch {
    reader.report(node, `${what} is no duration such as 30s, 5m or 1h`);
    return 0;
  }
}

function expectEnv(reader: YamlReader, node: Node | null, what: string): void {
  for (const [name, { key, value }] of reader.map(node, what, { known: null }) ?? []) {
    if (!ENV.test(name)) reader.report(key, `'${name}' is no name of an environment variable`);
    if (!['string', 'number', 'boolean'].includes(typeof reader.plain(value))) {
      reader.report(value ?? key, `${name} in ${what} is no text`);
    }
  }
}

/**
 * Three octal digits, as they stand in the file. A number that YAML itself reads as octal or hexadecimal would arrive as another one:
 * 0o644 is 420, which is a mode too.
 */
function expectMode(reader: YamlReader, node: Node | null): void {
  if (reader.text(node, 'mode') === null) return;
  const written = reader.written(node);
  if (!MODE.test(written)) reader.report(node, `mode is ${written}: write three octal digits, such as '644'`);
}

function expectMatch(
  reader: YamlReader,
  node: Node | null,
  { what, pattern }: { what: string; pattern: RegExp },
): void {
  const text = reader.text(node, what);
  if (text !== null && !pattern.test(text))
    reader.report(node, `${what} is '${text}', which does not match ${pattern.source}`);
}
