import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, connect, type AddressInfo } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applyText, outputOf } from './apply-text.js';

const SSHD =
  process.env['PAWL_TEST_SSHD'] ?? ['/usr/sbin/sshd', '/usr/local/sbin/sshd'].find(existsSync) ?? '';
const HAS_SSH = spawnSync('ssh', ['-V']).status === 0 && spawnSync('ssh-keygen', ['-?']).error === undefined;

describe.runIf(SSHD !== '' && HAS_SSH)('RST-13 a real sshd (where ssh and sshd are installed)', () => {
  let folder = '';
  let server: ChildProcess;
  let port = 0;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'pawl-sshd-'));
    chmodSync(folder, 0o700);
    for (const name of ['host', 'client', 'stranger']) {
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, name)]);
    }
    writeFileSync(join(folder, 'authorized'), readFileSync(join(folder, 'client.pub')));
    port = await freePort();
    const key = readFileSync(join(folder, 'host.pub'), 'utf8');
    writeFileSync(join(folder, 'known'), `[127.0.0.1]:${port} ${key}`);
    writeFileSync(
      join(folder, 'known-other'),
      `[127.0.0.1]:${port} ${readFileSync(join(folder, 'stranger.pub'), 'utf8')}`,
    );
    const config = [
      `HostKey ${folder}/host`,
      `AuthorizedKeysFile ${folder}/authorized`,
      'ListenAddress 127.0.0.1',
      'StrictModes no',
      'UsePAM no',
      'PermitRootLogin yes',
      'PasswordAuthentication no',
      'PidFile none',
    ];
    writeFileSync(join(folder, 'config'), `${config.join('\n')}\n`);
    server = spawn(SSHD, ['-D', '-e', '-p', String(port), '-f', join(folder, 'config')], { stdio: 'ignore' });
    await untilListening(port, server);
  });

  afterAll(() => {
    server.kill();
    rmSync(folder, { recursive: true });
  });

  const host = ({ key = 'client', known = 'known' } = {}): string =>
    `{ real: { address: 127.0.0.1, port: ${port}, user: ${userInfo().username}, identity_file: ${folder}/${key}, known_hosts_file: ${folder}/${known} } }`;

  test('commands, scripts, input and exit codes', async () => {
    writeFileSync(join(folder, 'hello.sh'), 'echo "script: $1"\n');
    const applied = await applyText(
      `steps:
  - { name: words, action: cmd.run, args: { cmd: [printf, '%s|', "it's", '$HOME', 'a b', ''] } }
  - { name: script, action: script.shell, args: { file: hello.sh, args: ['x y'] } }
  - { name: exit, action: shell.run, args: { script: 'echo bad >&2; exit 255' } }`,
      { hosts: host(), folder },
    );
    expect(applied.run?.steps.map(({ hosts }) => hosts['real']?.message)).toEqual([
      null,
      null,
      'exit 255: bad',
    ]);
    expect(outputOf(applied, 'words', 'real')).toBe("it's|$HOME|a b||");
    expect(outputOf(applied, 'script', 'real')).toBe('script: x y\n');
  });

  test.each([
    ['a wrong key', { key: 'stranger' }, /^unreachable: .*Permission denied/],
    [
      'a host key that is another’s',
      { known: 'known-other' },
      /^unreachable: .*(Host key verification failed|REMOTE HOST IDENTIFICATION)/,
    ],
    ['a host that nobody knows', { known: 'missing' }, /^unreachable: .*Host key verification failed/],
  ])('%s is refused before anything runs there', async (_title, how, message) => {
    const touched = join(folder, 'touched');
    const applied = await applyText(
      `steps: [{ name: s, action: cmd.run, args: { cmd: [touch, '${touched}'] } }]`,
      {
        hosts: host(how),
      },
    );
    expect(applied.status).toBe('failed');
    expect(applied.run?.steps[0]?.hosts['real']?.message).toMatch(message);
    expect(existsSync(touched)).toBe(false);
  });
});

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

async function untilListening(port: number, child: ChildProcess): Promise<void> {
  for (;;) {
    const isUp = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (isUp) return;
    if (child.exitCode !== null) throw new Error(`sshd ended with ${child.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
