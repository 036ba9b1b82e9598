import { textOf } from './template.js';
import type { Variables } from './variables.js';

/** A host that steps run on. */
export type Host = {
  readonly name: string;
  readonly connection: 'local' | 'ssh';
  readonly address: string;
  readonly user: string | null;
  readonly port: number | null;
  readonly identityFile: string | null;
  readonly knownHostsFile: string | null;
  readonly vars: Variables;
  /** The groups that it belongs to, in the order of the file. */
  readonly groups: readonly string[];
};

export const ACTIONS = [
  'cmd.run',
  'shell.run',
  'script.shell',
  'env.set',
  'template.render',
  'wait.until',
  'wait.event',
  'wait.approval',
] as const;
export type ActionName = (typeof ACTIONS)[number];

/** These wait for somebody, once for the whole run; the others are done on every host. */
export function isForRun(action: ActionName): action is 'wait.event' | 'wait.approval' {
  return action === 'wait.event' || action === 'wait.approval';
}

export type Step = {
  readonly name: string;
  readonly action: ActionName;
  readonly args: Variables;
  /** Names of hosts, in the order of the inventory. */
  readonly hosts: readonly string[];
  readonly when: string | null;
  /** A list, or a template that gives one. */
  readonly loop: unknown;
  readonly retries: number;
  readonly retryDelayMs: number;
  readonly timeoutMs: number;
  readonly continueOnError: boolean;
  readonly mustVars: readonly string[];
  readonly expectVars: readonly string[];
  readonly notify: readonly string[];
  /** Variables for later steps: what of the result each is. */
  readonly exports: Readonly<Record<string, string>>;
  /** A command that tells by its exit code whether the action has happened: 0 yes, 1 no. */
  readonly probe: readonly string[] | null;
  /** How long after its beginning an action may still be under way though nobody watches it any more. */
  readonly probeAfterMs: number;
};

/** What a signal to the run has to be called for a wait to end: what the step says, or its name. */
export function waitKeyOf({ name, args }: Pick<Step, 'name' | 'args'>): string {
  return textOf(args['event'] ?? slugOf(name));
}

function slugOf(name: string): string {
  const slug = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  return slug === '' ? 'approval' : slug.slice(0, 100);
}

export type Workflow = {
  readonly name: string;
  readonly vars: Variables;
  readonly hosts: ReadonlyMap<string, Host>;
  readonly groupVars: ReadonlyMap<string, Variables>;
  readonly steps: readonly Step[];
  readonly handlers: readonly Step[];
  /** Variables that the run answers with. */
  readonly exports: readonly string[];
};

/** The layers of a host's variables, the last of which wins. */
export function layersOf(workflow: Workflow, host: Host): Variables[] {
  return [workflow.vars, ...host.groups.map((group) => workflow.groupVars.get(group) ?? {}), host.vars];
}
