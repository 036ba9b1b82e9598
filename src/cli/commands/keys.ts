import type { Command } from 'commander';
import { createKey, listKeys, revokeKey, ROLES, type Role } from '../../engine/api-keys.js';
import { viewOf } from '../../http/routes/keys.js';
import { print } from '../console.js';
import { withApp } from '../open-app.js';
import {
  byOption,
  choiceOption,
  command,
  examples,
  ownerOption,
  tenantOption,
  type Flags,
  type Register,
  type Shell,
} from '../shell.js';
import { table } from '../table.js';

type Options = Flags & { readonly tenant?: string; readonly by: string };
type CreateOptions = Flags & { readonly tenant: string; readonly by: string; readonly role: Role };

export const registerKeys: Register = (program, shell) => {
  const keys = command(program, 'keys', 'Keys to the HTTP API.');
  const create = command(keys, 'create <name>', 'Make a key. It is shown this once, and stored nowhere.')
    .addOption(choiceOption('--role <role>', 'what it may do', ROLES).default('operator'))
    .addOption(ownerOption())
    .addOption(byOption())
    .action((name: string, _options: unknown, self: Command) =>
      shell.ends(makeKey(shell, name, self.optsWithGlobals<CreateOptions>())),
    );
  examples(create, 'pawl keys create dashboard --role viewer', 'pawl keys create ci --tenant acme --json');

  const list = command(keys, 'list', 'The keys, without their secrets.')
    .addOption(tenantOption())
    .action((_options: unknown, self: Command) =>
      shell.ends(showKeys(shell, self.optsWithGlobals<Options>())),
    );
  examples(list, 'pawl keys list --tenant acme');

  const revoke = command(
    keys,
    'revoke <key-id>',
    'Let nobody in with a key any more. Servers notice within five seconds.',
  )
    .addOption(tenantOption())
    .addOption(byOption())
    .action((id: string, _options: unknown, self: Command) =>
      shell.ends(endKey(shell, id, self.optsWithGlobals<Options>())),
    );
  examples(revoke, 'pawl keys revoke 01JZ…');
  examples(keys, 'pawl keys create ci', 'pawl keys list');
};

function makeKey(shell: Shell, name: string, options: CreateOptions): Promise<number> {
  const { tenant: tenantId, role, by, json = false } = options;
  return withApp(
    shell,
    options,
    async ({ engine }) => {
      const { key, token } = await createKey(engine, { tenantId, role, name, by: `operator:${by}` });
      const text = `${token}\n\nKeep it: it is not shown again. Send it as \`authorization: Bearer <key>\`.`;
      print(shell.console, { json, data: { ...viewOf(key), key: token }, text });
      return 0;
    },
    { creates: true },
  );
}

function showKeys(shell: Shell, options: Options): Promise<number> {
  return withApp(shell, options, async ({ engine }) => {
    const keys = (await listKeys(engine, options.tenant ?? null)).map(viewOf);
    const rows = keys.map((key) => [
      key.key_id,
      key.name,
      key.role,
      key.tenant_id,
      key.created_at,
      key.revoked_at === null ? 'valid' : `revoked ${key.revoked_at}`,
    ]);
    const heads = ['KEY', 'NAME', 'ROLE', 'TENANT', 'CREATED', 'STATE'];
    const text = rows.length === 0 ? 'There are no keys.' : table(heads, rows);
    print(shell.console, { json: options.json ?? false, data: { keys }, text });
    return 0;
  });
}

function endKey(shell: Shell, id: string, options: Options): Promise<number> {
  const { tenant: tenantId = null, by, json = false } = options;
  return withApp(shell, options, async ({ engine }) => {
    const key = await revokeKey(engine, id, { tenantId, by: `operator:${by}` });
    print(shell.console, { json, data: viewOf(key), text: `Key ${id} is revoked.` });
    return 0;
  });
}
