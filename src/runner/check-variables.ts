import type { Node } from 'yaml';
import { namesIn, parseExpression } from './expression.js';
import type { ReadStep } from './read-step.js';
import { namesWithin } from './template.js';
import { CyclicVariables, layered } from './variables.js';
import { isForRun, layersOf, type Host, type Workflow } from './workflow.js';
import type { Members, YamlReader } from './yaml-reader.js';

/** What every template has: of a step on hosts, and of a wait, which is for the run as a whole. */
const BUILT_IN = { host: ['host', 'run_id'], run: ['run_id'] } as const;
/** What else an export is made of. */
const OUTCOME = { host: ['result'], run: ['event'] } as const;

/** What the steps so far export, whether or not they will really be run. A wait knows of no host's. */
type Exported = { readonly host: Set<string>; readonly run: Set<string> };

/** Finds variables that need each other, and those that are read and nobody sets: before anything runs. */
export function checkVariables(
  reader: YamlReader,
  workflow: Workflow,
  {
    steps,
    handlers,
    members,
  }: { steps: readonly ReadStep[]; handlers: readonly ReadStep[]; members: Members },
): void {
  const vars = members.get('vars');
  const named = vars ? reader.map(vars.value, 'vars', { known: null }) : null;
  const elsewhere = members.get('inventory')?.key ?? vars?.key ?? null;
  if (!expectSound(reader, workflow, (name) => named?.get(name)?.key ?? elsewhere)) return;
  const exported: Exported = { host: new Set(), run: new Set() };
  for (const read of [...steps, ...handlers]) {
    checkStep(reader, workflow, { read, exported });
    const { action, exports } = read.step;
    for (const name of Object.keys(exports)) exported[isForRun(action) ? 'run' : 'host'].add(name);
  }
  for (const name of workflow.exports) {
    const isSet =
      exported.host.has(name) ||
      exported.run.has(name) ||
      [...workflow.hosts.values()].some((host) => has(workflow, host, name));
    if (!isSet) reader.report(members.get('export')?.value ?? null, `nobody sets the variable '${name}'`);
  }
}

/** The same cycle is told once, not for every host that has it. */
function expectSound(
  reader: YamlReader,
  workflow: Workflow,
  placeOf: (name: string) => Node | null,
): boolean {
  const told = new Set<string>();
  for (const host of workflow.hosts.values()) {
    const layers = layersOf(workflow, host);
    const lookup = layered(layers, builtIn(host));
    for (const name of layers.flatMap((layer) => Object.keys(layer))) {
      try {
        lookup(name);
      } catch (error) {
        const message =
          error instanceof CyclicVariables
            ? error.message
            : `variable '${name}': ${error instanceof Error ? error.message : String(error)}`;
        const key = error instanceof CyclicVariables ? [...new Set(error.cycle)].toSorted().join() : message;
        if (!told.has(key)) reader.report(placeOf(name), message);
        told.add(key);
      }
    }
  }
  return told.size === 0;
}

function checkStep(
  reader: YamlReader,
  workflow: Workflow,
  { read: { step, nodes, node }, exported }: { read: ReadStep; exported: Exported },
): void {
  const kind = isForRun(step.action) ? 'run' : 'host';
  const loops = step.loop === null ? [] : ['item'];
  const known = [...BUILT_IN[kind], ...loops];
  const hosts = isForRun(step.action)
    ? [null]
    : step.hosts.map((name) => workflow.hosts.get(name)).filter((host) => host !== undefined);
  const isExported = (name: string): boolean =>
    exported.run.has(name) || (kind === 'host' && exported.host.has(name));
  const expect = (field: string, names: readonly string[], also: readonly string[]): void => {
    for (const name of new Set(names)) {
      if (also.includes(name) || isExported(name)) continue;
      const without = hosts.filter((host) => !has(workflow, host, name));
      const [first] = without;
      if (first === undefined) continue;
      const somewhere = without.length === hosts.length ? '' : ` on host '${first?.name}'`;
      const where = first === null ? ' for the run as a whole' : somewhere;
      reader.report(nodes.get(field)?.value ?? node, `there is no variable '${name}'${where}`);
    }
  };
  expect('args', namesWithin(step.args), known);
  expect('when', step.when === null ? [] : namesIn(parseExpression(step.when)), known);
  expect('loop', namesWithin(step.loop), BUILT_IN[kind]);
  expect('probe', namesWithin(step.probe), known);
  expect('export', namesWithin(step.exports), [...known, ...OUTCOME[kind]]);
  expect('must_vars', step.mustVars, BUILT_IN[kind]);
  for (const name of step.expectVars) {
    if (!(name in step.exports)) {
      reader.report(
        nodes.get('expect_vars')?.value ?? node,
        `the step is to set '${name}', and exports no such variable`,
      );
    }
  }
}

/** Whether a host, or the run as a whole, has a variable from the file. The run has none of those that need a host. */
function has(workflow: Workflow, host: Host | null, name: string): boolean {
  if (host !== null) return layersOf(workflow, host).some((layer) => Object.hasOwn(layer, name));
  try {
    return layered([workflow.vars], { run_id: '' })(name) !== undefined;
  } catch {
    return false;
  }
}

/** Stands in for what the runner sets, so that variables may use it. */
function builtIn({ name, address, user, groups }: Host): Record<string, unknown> {
  return { host: { name, address, user, groups }, run_id: '' };
}
