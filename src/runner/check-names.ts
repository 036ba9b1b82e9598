import type { Node } from 'yaml';
import type { ReadStep } from './read-step.js';
import { isForRun, waitKeyOf, type Step } from './workflow.js';
import type { YamlReader } from './yaml-reader.js';

/** The most that a job takes as the name of a step. */
const MOST_RECORDED = 200;
/** What goes over a template may have many items. */
const MANY_ITEMS = 100_000;

/** Finds names that are taken, or that the job of the run could not record its steps under: before anything runs. */
export function checkNames(reader: YamlReader, steps: readonly ReadStep[]): void {
  const seen = new Set<string>();
  const awaited = new Map<string, string>();
  for (const { step, nodes, node } of steps) {
    const { name } = step;
    const place = nodes.get('name')?.value ?? node;
    if (seen.has(name)) reader.report(place, `two steps are called '${name}'`);
    seen.add(name);
    if (isForRun(step.action)) expectOwnKey(reader, place, { step, awaited });
    else expectRecordable(reader, place, step);
  }
}

/** A signal ends one wait of a run, and no other. */
function expectOwnKey(
  reader: YamlReader,
  place: Node | null,
  { step, awaited }: { step: Step; awaited: Map<string, string> },
): void {
  const key = waitKeyOf(step);
  const other = awaited.get(key);
  if (other !== undefined) {
    reader.report(
      place,
      `'${step.name}' waits for '${key}', as '${other}' does: give it an event of its own`,
    );
  }
  awaited.set(key, step.name);
}

function expectRecordable(reader: YamlReader, place: Node | null, step: Step): void {
  const { name, hosts } = step;
  if (name.includes('#') || name.startsWith('$')) {
    reader.report(place, `'${name}' is no name of a step: it has a '#', or begins with '$'`);
  }
  const [longest = ''] = hosts.toSorted((a, b) => b.length - a.length);
  const recorded = `${name}@${longest}${itemOf(step)}${triesOf(step)}`;
  if (recorded.length > MOST_RECORDED) {
    reader.report(
      place,
      `'${name}' and host '${longest}' have names that are too long together, by ${recorded.length - MOST_RECORDED}`,
    );
  }
}

/** The longest of what host-step.ts adds to the name for an item of a loop. */
function itemOf({ loop }: Step): string {
  if (loop === null) return '';
  return `[${Array.isArray(loop) ? loop.length : MANY_ITEMS}]`;
}

/** And for a try. */
const triesOf = ({ retries }: Step): string => (retries === 0 ? '' : ` try ${retries + 1} pause`);
