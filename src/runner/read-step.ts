import type { Node } from 'yaml';
import { parseExpression } from './expression.js';
import { expectCommand, readArgs, readDuration, type NeededFile } from './read-args.js';
import { expectVariable, type Inventory } from './read-inventory.js';
import { namesWithin } from './template.js';
import { ACTIONS, isForRun, type ActionName, type Step } from './workflow.js';
import type { Members, YamlReader } from './yaml-reader.js';

/** A step, and where its parts stand, for whoever checks more about it. */
export type ReadStep = {
  readonly step: Step;
  readonly nodes: Members;
  readonly node: Node | null;
  readonly files: readonly NeededFile[];
};

const KNOWN = [
  'name',
  'targets',
  'action',
  'args',
  'when',
  'loop',
  'retries',
  'retry_delay',
  'timeout',
  'continue_on_error',
  'must_vars',
  'expect_vars',
  'notify',
  'export',
  'probe',
  'probe_after',
];

const PROBES = ['probe', 'probe_after'];
const NOT_FOR_WAITS = ['loop', 'retries', 'retry_delay', 'must_vars', 'expect_vars', 'notify', ...PROBES];
/** Done again after a crash, so that nobody need be asked. */
const REPEATABLE: ReadonlySet<ActionName> = new Set(['env.set', 'template.render', 'wait.until']);

const DEFAULT_TIMEOUT_MS = 600_000;
/** Whoever approves may be on holiday. */
const UNLIMITED = Number.POSITIVE_INFINITY;
const DEFAULT_RETRY_DELAY_MS = 1_000;
const MOST_NAME = 120;

const NOTHING = { args: {}, files: [] } as const;

export function readStep(
  reader: YamlReader,
  node: Node | null,
  { what, inventory }: { what: string; inventory: Inventory },
): ReadStep | null {
  const nodes = reader.map(node, what, { known: KNOWN, required: ['name', 'action'] });
  if (nodes === null) return null;
  const read = <T>(name: string, by: (value: Node | null, name: string) => T, otherwise: T): T => {
    const found = nodes.get(name);
    return found === undefined ? otherwise : by(found.value, name);
  };
  const texts = (value: Node | null, name: string): string[] => reader.texts(value, name);
  const duration = (value: Node | null, name: string): number => readDuration(reader, value, name);
  const name = read('name', (value) => reader.text(value, 'name'), null) ?? '';
  if (name.length > MOST_NAME)
    reader.report(nodes.get('name')?.value ?? node, `name is longer than ${MOST_NAME}`);
  const known = read('action', (value) => readAction(reader, value), null);
  const action = known ?? 'cmd.run';
  const place = nodes.get('action')?.value ?? node;
  const { args, files } =
    known === null ? NOTHING : readArgs(reader, { action, node: nodes.get('args')?.value, place });
  const timeoutMs = read('timeout', duration, isForRun(action) ? UNLIMITED : DEFAULT_TIMEOUT_MS);
  if (known !== null) expectFitting(reader, known, nodes);
  checkTexts(reader, nodes);
  return {
    node,
    nodes,
    files,
    step: {
      name,
      action,
      args,
      hosts: hostsOf(reader, nodes, { action, inventory }),
      when: read('when', (value) => String(reader.plain(value)), null),
      loop: read('loop', (value) => readLoop(reader, value), null),
      retries: read('retries', (value) => reader.integer(value, 'retries', { least: 0, most: 100 }), 0) ?? 0,
      retryDelayMs: read('retry_delay', duration, DEFAULT_RETRY_DELAY_MS),
      timeoutMs,
      continueOnError: read('continue_on_error', (value) => reader.flag(value, 'continue_on_error'), false),
      mustVars: read('must_vars', texts, []),
      expectVars: read('expect_vars', texts, []),
      notify: read('notify', texts, []),
      exports: read('export', (value) => readExports(reader, value), {}),
      probe: read('probe', (value) => expectCommand(reader, value, 'probe'), null),
      probeAfterMs: read('probe_after', duration, timeoutMs),
    },
  };
}

function readAction(reader: YamlReader, node: Node | null): ActionName | null {
  const name = reader.text(node, 'action');
  const known = ACTIONS.find((one) => one === name);
  if (name !== null && known === undefined) {
    reader.report(node, `there is no action '${name}'; there are ${ACTIONS.join(', ')}`);
  }
  return known ?? null;
}

/** What a step says in vain would be missed when it is needed. */
function expectFitting(reader: YamlReader, action: ActionName, nodes: Members): void {
  const inVain = isForRun(action) ? NOT_FOR_WAITS : REPEATABLE.has(action) ? PROBES : [];
  for (const name of inVain) {
    const found = nodes.get(name);
    if (found) reader.report(found.key, `${action} has no use for '${name}'`);
  }
}

/** Names of hosts and groups; all hosts, if nothing is said. */
function hostsOf(
  reader: YamlReader,
  nodes: Members,
  { action, inventory }: { action: ActionName; inventory: Inventory },
): string[] {
  const targets = nodes.get('targets');
  if (isForRun(action)) {
    if (targets) reader.report(targets.key, `${action} is for the whole run: it has no targets`);
    return [];
  }
  const all = [...inventory.hosts.keys()];
  if (targets === undefined) return all;
  const isOne = typeof reader.plain(targets.value) === 'string';
  const members = isOne ? [targets.value] : reader.list(targets.value, 'targets');
  const namesOf = (member: Node | null): readonly string[] => {
    const name = reader.text(member, 'a target');
    if (name === null) return [];
    if (name === 'all') return all;
    if (inventory.hosts.has(name)) return [name];
    const group = inventory.groups.get(name);
    if (group === undefined) reader.report(member, `there is no host or group '${name}'`);
    return group ?? [];
  };
  const chosen = new Set(members.flatMap(namesOf));
  return all.filter((name) => chosen.has(name));
}

function readLoop(reader: YamlReader, node: Node | null): unknown {
  const value = reader.plain(node);
  if (!Array.isArray(value) && typeof value !== 'string') {
    reader.report(node, 'loop is neither a list nor a template of one');
  }
  return value;
}

function readExports(reader: YamlReader, node: Node | null): Record<string, string> {
  const entries = [...(reader.map(node, 'export', { known: null }) ?? [])];
  for (const [name, { key }] of entries) expectVariable(reader, name, key);
  return Object.fromEntries(
    entries.map(([name, { value }]) => [name, reader.text(value, `export.${name}`) ?? '']),
  );
}

/** Expressions and templates are read here already, so that a slip in one is known before anything runs. */
function checkTexts(reader: YamlReader, nodes: Members): void {
  const attempt = (value: Node | null, read: () => unknown): void => {
    try {
      read();
    } catch (error) {
      reader.report(value, error instanceof Error ? error.message : String(error));
    }
  };
  for (const name of ['args', 'loop', 'export', 'probe']) {
    const found = nodes.get(name);
    if (found) attempt(found.value, () => namesWithin(reader.plain(found.value)));
  }
  const when = nodes.get('when');
  if (when) attempt(when.value, () => parseExpression(String(reader.plain(when.value))));
}
