import { evaluate, isTrue } from './evaluate.js';
import { parseExpression } from './expression.js';
import { renderDeep } from './template.js';
import { layered } from './variables.js';
import { isForRun, layersOf, type Host, type Step, type Workflow } from './workflow.js';

/** What a step would do on a host. `depends`: on what earlier steps set, so that nobody can say before. */
export type PlannedHost = {
  readonly host: string;
  readonly what: 'runs' | 'skips' | 'depends';
  readonly items: number | null;
};
export type PlannedStep = {
  readonly name: string;
  readonly action: Step['action'];
  readonly hosts: readonly PlannedHost[];
  /** Only if a step notifies it. */
  readonly isHandler: boolean;
};

/** What would be run, without running any of it. */
export function planOf(workflow: Workflow): PlannedStep[] {
  const of =
    (isHandler: boolean) =>
    (step: Step): PlannedStep => ({
      name: step.name,
      action: step.action,
      hosts: step.hosts.map((name) => plannedOn(workflow, step, workflow.hosts.get(name) as Host)),
      isHandler,
    });
  return [...workflow.steps.map(of(false)), ...workflow.handlers.map(of(true))];
}

function plannedOn(workflow: Workflow, step: Step, host: Host): PlannedHost {
  const { name, address, user, groups } = host;
  const values = { host: { name, address, user, groups }, run_id: '' };
  const lookup = layered(layersOf(workflow, host), values);
  try {
    const items = step.loop === null ? [null] : renderDeep(step.loop, lookup);
    const list = Array.isArray(items) ? items : [];
    const when = step.when;
    const runs = list.filter(
      (item) =>
        when === null ||
        isTrue(evaluate(parseExpression(when), (asked) => (asked === 'item' ? item : lookup(asked)))),
    );
    const counted = step.loop === null ? null : runs.length;
    return { host: name, what: runs.length > 0 ? 'runs' : 'skips', items: counted };
  } catch {
    // It reads a variable that a step before it exports.
    return { host: name, what: 'depends', items: null };
  }
}

/** The plan for people. */
export function planLines(workflow: Workflow): string[] {
  const steps = planOf(workflow);
  return [
    `${workflow.name}: ${workflow.steps.length} steps on ${workflow.hosts.size} hosts`,
    ...steps.flatMap(({ name, action, hosts, isHandler }, n) => {
      const number = isHandler ? 'handler' : `${n + 1}.`;
      if (isForRun(action)) return [`${number} ${name}  ${action}  waits for somebody`];
      return [`${number} ${name}  ${action}${isHandler ? '  if notified' : ''}`, ...groupLines(hosts)];
    }),
  ];
}

const WHAT = { runs: 'runs on', skips: 'is skipped on', depends: 'depends on earlier steps on' } as const;

function groupLines(hosts: readonly PlannedHost[]): string[] {
  return (['runs', 'depends', 'skips'] as const).flatMap((what) => {
    const those = hosts.filter((host) => host.what === what);
    if (those.length === 0) return [];
    const shown = those
      .slice(0, MOST_NAMED)
      .map(({ host, items }) => (items === null ? host : `${host} (${items} items)`));
    const more = those.length > MOST_NAMED ? `, and ${those.length - MOST_NAMED} more` : '';
    return [`   ${WHAT[what]} ${shown.join(', ')}${more}`];
  });
}

const MOST_NAMED = 12;
