import type { Node } from 'yaml';
import type { Variables } from './variables.js';
import type { Host } from './workflow.js';
import type { Members, YamlReader } from './yaml-reader.js';

export type Inventory = {
  readonly hosts: Map<string, Host>;
  readonly groups: Map<string, readonly string[]>;
  readonly groupVars: Map<string, Variables>;
  readonly vars: Variables;
};

const HOST = ['connection', 'address', 'user', 'port', 'identity_file', 'known_hosts_file', 'vars'];
const NAME = /^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$/;
/** What would be taken for an option of `ssh`, or for several words. */
const WORD = /^[A-Za-z0-9_][A-Za-z0-9._:%@-]{0,254}$/;

/** This machine, where a workflow says nothing about hosts. */
const LOCAL: Host = {
  name: 'local',
  connection: 'local',
  address: 'localhost',
  user: null,
  port: null,
  identityFile: null,
  knownHostsFile: null,
  vars: {},
  groups: [],
};

export function readInventory(reader: YamlReader, node: Node | null | undefined): Inventory {
  const members =
    node === undefined ? null : reader.map(node, 'inventory', { known: ['hosts', 'groups', 'vars'] });
  const vars = members?.get('vars');
  const inventory: Inventory = {
    hosts: new Map(),
    groups: new Map(),
    groupVars: new Map(),
    vars: vars === undefined ? {} : readVars(reader, vars.value, 'inventory.vars'),
  };
  const hosts = members?.get('hosts');
  if (hosts === undefined) inventory.hosts.set('local', LOCAL);
  else {
    for (const [name, { key, value }] of reader.map(hosts.value, 'inventory.hosts', { known: null }) ?? []) {
      if (!NAME.test(name)) reader.report(key, `'${name}' is no name of a host`);
      inventory.hosts.set(name, readHost(reader, name, value));
    }
  }
  const groups = members?.get('groups');
  if (groups !== undefined) readGroups(reader, inventory, groups.value);
  return inventory;
}

/** A map of variables, whose values may be anything. */
export function readVars(reader: YamlReader, node: Node | null, what: string): Variables {
  for (const [name, { key }] of reader.map(node, what, { known: null }) ?? [])
    expectVariable(reader, name, key);
  return (reader.plain(node) ?? {}) as Variables;
}

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_-]*$/;
/** What every template has without anyone saying so. */
const RESERVED = new Set(['item', 'host', 'run_id', 'result', 'event']);

/** A name that a variable may have. */
export function expectVariable(reader: YamlReader, name: string, key: Node): void {
  if (!VARIABLE.test(name)) reader.report(key, `'${name}' is no name of a variable`);
  if (RESERVED.has(name)) reader.report(key, `'${name}' is set by the runner itself`);
}

function readHost(reader: YamlReader, name: string, node: Node | null): Host {
  const what = `host '${name}'`;
  if (node === null || reader.plain(node) === null)
    return { ...LOCAL, name, connection: 'ssh', address: name };
  const members: Members = reader.map(node, what, { known: HOST }) ?? new Map();
  const word = (member: string): string | null => {
    const found = members.get(member);
    const text = found === undefined ? null : reader.text(found.value, `${member} of ${what}`);
    if (text !== null && !WORD.test(text))
      reader.report(found?.value ?? node, `${member} of ${what} is '${text}', which no ssh takes`);
    return text;
  };
  const path = (member: string): string | null => {
    const found = members.get(member);
    return found === undefined ? null : reader.text(found.value, `${member} of ${what}`);
  };
  const connection = path('connection') ?? 'ssh';
  if (connection !== 'ssh' && connection !== 'local') {
    reader.report(members.get('connection')?.value ?? node, `connection of ${what} is neither ssh nor local`);
  }
  const port = members.get('port');
  const vars = members.get('vars');
  return {
    name,
    connection: connection === 'local' ? 'local' : 'ssh',
    address: word('address') ?? name,
    user: word('user'),
    port:
      port === undefined ? null : reader.integer(port.value, `port of ${what}`, { least: 1, most: 65_535 }),
    identityFile: path('identity_file'),
    knownHostsFile: path('known_hosts_file'),
    vars: vars === undefined ? {} : readVars(reader, vars.value, `vars of ${what}`),
    groups: [],
  };
}

function readGroups(reader: YamlReader, { hosts, groups, groupVars }: Inventory, node: Node | null): void {
  for (const [name, { key, value }] of reader.map(node, 'inventory.groups', { known: null }) ?? []) {
    const what = `group '${name}'`;
    if (hosts.has(name) || name === 'all') reader.report(key, `'${name}' is a host too, or stands for all`);
    const members = reader.map(value, what, { known: ['hosts', 'vars'], required: ['hosts'] });
    const vars = members?.get('vars');
    groupVars.set(name, vars === undefined ? {} : readVars(reader, vars.value, `vars of ${what}`));
    const own: string[] = [];
    for (const member of reader.list(members?.get('hosts')?.value ?? null, `hosts of ${what}`)) {
      const host = reader.text(member, `a host of ${what}`);
      const found = host === null ? undefined : hosts.get(host);
      if (host !== null && found === undefined) reader.report(member, `there is no host '${host}'`);
      if (found === undefined) continue;
      own.push(found.name);
      hosts.set(found.name, { ...found, groups: [...found.groups, name] });
    }
    groups.set(name, own);
  }
}
