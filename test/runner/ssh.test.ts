import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { pawl, runStates } from '../../src/index.js';
import { MarkedOutput, quoted } from '../../src/runner/ssh.js';
import { applyText, newFolder, outputOf, SILENT, statuses } from './apply-text.js';
import { fakeSsh } from './fake-ssh.js';

const EVIL = [
  `it's`,
  '$(touch harm)',
  '`id`',
  '"quoted"',
  'a;b&c|d',
  '*',
  '\\\\',
  '-x',
  '',
  'new\\nline',
  '~',
  '#',
  '!',
];

describe('RST-13 on hosts behind ssh', () => {
  test('ssh is strict about host keys, asks nobody, and gets the host after --', async () => {
    const { calls } = fakeSsh();
    const hosts = `{ web: { address: web.example.org, user: deploy, port: 2222, identity_file: /keys/a b, known_hosts_file: /keys/known } }`;
    const applied = await applyText('steps: [{ name: s, action: cmd.run, args: { cmd: [echo, hi] } }]', {
      hosts,
    });
    expect(applied.status).toBe('success');
    expect(outputOf(applied, 's', 'web')).toBe('hi\n');
    const [call = []] = calls();
    const options =
      '-T -a -x -o BatchMode=yes -o StrictHostKeyChecking=yes -o ConnectTimeout=10 -o ServerAliveInterval=15 ' +
      '-o ServerAliveCountMax=3 -o UserKnownHostsFile=/keys/known -i /keys/a_b -o IdentitiesOnly=yes -p 2222 -l deploy';
    expect(call.slice(0, -1)).toEqual([
      ...options.split(' ').map((word) => word.replace('_', ' ')),
      '--',
      'web.example.org',
    ]);
  });

  test('every word arrives as it was, and so do folder, environment and input', async () => {
    fakeSsh();
    const folder = newFolder();
    const words = EVIL.map((word) => JSON.stringify(word)).join(', ');
    const applied = await applyText(
      `steps:
  - { name: words, action: cmd.run, args: { cmd: [printf, '%s|', ${words}] } }
  - { name: env, action: env.set, args: { WORD: ${JSON.stringify(EVIL[1])} } }
  - { name: rest, action: cmd.run, args: { cmd: [sh, -c, 'pwd; echo "$WORD"; cat'], cwd: '${folder}', stdin: 'from stdin' } }
  - { name: conf, action: template.render, args: { content: 'of {{ host.name }}', dest: '${folder}/it''s.conf' } }
  - { name: read, action: cmd.run, args: { cmd: [cat, '${folder}/it''s.conf'] } }`,
      { hosts: '{ far: {} }' },
    );
    expect(applied.status).toBe('success');
    const plain = EVIL.map(
      (word) => JSON.parse(`"${word.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`) as string,
    );
    expect(outputOf(applied, 'words', 'far')).toBe(plain.map((word) => `${word}|`).join(''));
    expect(outputOf(applied, 'rest', 'far')).toBe(`${folder}\n$(touch harm)\nfrom stdin`);
    expect(outputOf(applied, 'read', 'far')).toBe('of far');
  });

  test('exit codes are the command’s own, 255 among them; a host that is not reached is a failure that says why', async () => {
    const { calls } = fakeSsh();
    const step = (name: string, host: string, script: string): string =>
      `  - { name: ${name}, action: shell.run, targets: ${host}, continue_on_error: true, args: { script: '${script}' } }`;
    const applied = await applyText(
      [
        'steps:',
        step('seven', 'far', 'echo bad >&2; exit 7'),
        step('last', 'far', 'exit 255'),
        ...['refused', 'stranger', 'unwelcome'].map((host) => step(host, host, 'true')),
      ].join('\n'),
      { hosts: '{ far: {}, refused: {}, stranger: {}, unwelcome: {} }' },
    );
    expect(applied.run?.steps.map(({ hosts }) => Object.values(hosts)[0]?.message)).toEqual([
      'exit 7: bad',
      'exit 255',
      'unreachable: ssh: connect to host refused port 22: Connection refused',
      'unreachable: Host key verification failed.',
      'unreachable: nobody@unwelcome: Permission denied (publickey).',
    ]);
    expect(calls().length).toBe(5);
  });

  test.each(['lost', 'silent', 'reset', 'gone'])(
    'a connection that is lost (%s): nobody knows, so nothing is repeated, and an operator decides',
    async (host) => {
      const { calls } = fakeSsh();
      const store = `sqlite:${join(newFolder(), 'pawl.db')}`;
      const operator = await pawl({ store, log: SILENT });
      let id = '';
      let decided = false;
      const applied = await applyText(
        'steps: [{ name: s, action: shell.run, retries: 3, retry_delay: 1ms, args: { script: rm -rf everything } }]',
        {
          hosts: `{ ${host}: {} }`,
          store,
          runs: store,
          onStarted: (runId) => (id = runId),
          onWaiting: () => {
            decided = true;
            void operator.resolveEffect(id, {
              step: `s@${host}`,
              verdict: 'happened',
              result: null,
              by: 'ann',
            });
          },
        },
      );
      expect(decided).toBe(true);
      expect(statuses(applied)).toEqual({ s: { [host]: 'success' } });
      expect(calls().length).toBe(1);
      await operator.close();
    },
  );

  test.each([
    ['happened', 'true', 'success', null],
    [
      'not happened',
      'false',
      'failed',
      "the connection to 'flaky' was lost: Connection to flaky closed by remote host.",
    ],
  ])(
    'a lost connection with a probe: the host itself tells that it has %s',
    async (_title, probe, status, message) => {
      const { calls } = fakeSsh();
      const applied = await applyText(
        `steps: [{ name: s, action: shell.run, args: { script: ': LOSE' }, probe: ['${probe}'], probe_after: 1ms }]`,
        { hosts: '{ flaky: {} }' },
      );
      expect(applied.run?.steps[0]?.hosts['flaky']).toMatchObject({ status, message });
      expect(calls().length).toBe(2);
    },
  );

  test.each([
    ['flaky', ': LOSE', 'exit 2: '],
    ['lost', 'true', "the connection to 'lost' was lost"],
  ])('a probe that cannot tell (on %s): the run waits, and its state says why', async (host, script, why) => {
    fakeSsh();
    const store = `sqlite:${join(newFolder(), 'pawl.db')}`;
    const operator = await pawl({ store, log: SILENT });
    const states = await runStates({ store });
    let id = '';
    const said: (string | null | undefined)[] = [];
    const decide = async (): Promise<void> => {
      said.push((await states.find(id))?.steps[0]?.hosts[host]?.message);
      const by = 'ann';
      await operator.resolveEffect(id, { step: `s@${host}`, verdict: 'happened', result: null, by });
    };
    const applied = await applyText(
      `steps: [{ name: s, action: shell.run, args: { script: '${script}' }, probe: [grep, x, no-such-file], probe_after: 1ms }]`,
      {
        hosts: `{ ${host}: {} }`,
        store,
        runs: store,
        onStarted: (runId) => (id = runId),
        onWaiting: (sentence) => {
          if (sentence.includes('an operator must decide')) void decide();
        },
      },
    );
    expect(said).toEqual([expect.stringContaining(`its probe cannot tell (${why}`)]);
    expect(statuses(applied)).toEqual({ s: { [host]: 'success' } });
    await states.close();
    await operator.close();
  });
});

test('the marks of a command are taken out of its output, however it arrives', () => {
  const whole = '\u001eout\u001e not yet\u001e12 no\n\u001e7';
  for (let cut = 0; cut <= whole.length; cut++) {
    let text = '';
    const marked = new MarkedOutput((part) => (text += part));
    expect(marked.hasBegun).toBe(false);
    marked.write(whole.slice(0, cut));
    marked.write(whole.slice(cut));
    expect([text, marked.exit, marked.hasBegun]).toEqual(['out\u001e not yet\u001e12 no\n', 7, true]);
  }
  expect(quoted(`a'b`)).toBe(`'a'\\''b'`);
});
