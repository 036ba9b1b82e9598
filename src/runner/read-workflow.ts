import type { Node } from 'yaml';
import { checkNames } from './check-names.js';
import { checkVariables } from './check-variables.js';
import { readInventory, readVars } from './read-inventory.js';
import { readStep, type ReadStep } from './read-step.js';
import type { NeededFile } from './read-args.js';
import { isForRun, type Workflow } from './workflow.js';
import { YamlReader, type Members } from './yaml-reader.js';

const KNOWN = ['version', 'name', 'inventory', 'vars', 'steps', 'handlers', 'export'];

const NOTHING: Workflow = {
  name: '',
  vars: {},
  hosts: new Map(),
  groupVars: new Map(),
  steps: [],
  handlers: [],
  exports: [],
};

export type ReadWorkflow = {
  readonly workflow: Workflow;
  readonly reader: YamlReader;
  readonly files: readonly NeededFile[];
};

/** Reads a workflow whole, with all that is wrong with it noted in the reader. */
export function readWorkflow(text: string): ReadWorkflow {
  const reader = new YamlReader(text);
  // What cannot be read as YAML is told alone: whatever else is missing may be a consequence.
  if (reader.problems.length > 0) return { workflow: NOTHING, reader, files: [] };
  const members: Members =
    reader.map(reader.root, 'the workflow', { known: KNOWN, required: ['version', 'name', 'steps'] }) ??
    new Map();
  const version = members.get('version');
  if (version && reader.plain(version.value) !== 1) reader.report(version.value, 'version is not 1');
  const name = members.get('name');
  const inventory = readInventory(reader, members.get('inventory')?.value);
  const vars = members.get('vars');
  const exported = members.get('export');
  const read = (list: Node | null, what: string): ReadStep[] =>
    reader
      .list(list, what)
      .map((node, n) => readStep(reader, node, { what: `${what}[${n}]`, inventory }))
      .filter((step) => step !== null);
  const steps = members.has('steps') ? read(members.get('steps')?.value ?? null, 'steps') : [];
  const handlers = members.has('handlers') ? read(members.get('handlers')?.value ?? null, 'handlers') : [];
  const workflow: Workflow = {
    name: (name && reader.text(name.value, 'name')) ?? '',
    vars: { ...inventory.vars, ...(vars ? readVars(reader, vars.value, 'vars') : {}) },
    hosts: inventory.hosts,
    groupVars: inventory.groupVars,
    steps: steps.map(({ step }) => step),
    handlers: handlers.map(({ step }) => step),
    exports: exported ? reader.texts(exported.value, 'export') : [],
  };
  checkNames(reader, [...steps, ...handlers]);
  expectHandlers(reader, steps, handlers);
  if (reader.problems.length === 0) checkVariables(reader, workflow, { steps, handlers, members });
  return { workflow, reader, files: [...steps, ...handlers].flatMap(({ files }) => files) };
}

function expectHandlers(reader: YamlReader, steps: readonly ReadStep[], handlers: readonly ReadStep[]): void {
  const known = new Set(handlers.map(({ step }) => step.name));
  for (const { step, nodes } of steps) {
    for (const name of step.notify) {
      if (!known.has(name))
        reader.report(nodes.get('notify')?.value ?? null, `there is no handler '${name}'`);
    }
  }
  for (const { step, nodes } of handlers) {
    const place = (name: string): Node | null => nodes.get(name)?.key ?? null;
    if (step.notify.length > 0) reader.report(place('notify'), 'a handler notifies no other');
    if (isForRun(step.action)) reader.report(place('action'), `a handler cannot ${step.action}`);
  }
}
