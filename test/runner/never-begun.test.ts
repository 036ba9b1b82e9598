import { describe, expect, test } from 'vitest';
import { applyText } from './apply-text.js';
import { fakeSsh } from './fake-ssh.js';

describe('RST-13 a command that cannot even be begun has failed: nobody is asked whether it happened', () => {
  const LONG = `: ${'x'.repeat(140_000)}`;
  const NUL = String.raw`printf 'a\0b'`;

  test.each([
    ['a folder that is none', '', 'cmd.run, args: { cmd: [echo, hi], cwd: /etc/passwd }', /is no folder$/],
    [
      'a script that is too long',
      '',
      `shell.run, args: { script: "${LONG}" }`,
      /are longer than.*script\.shell$/,
    ],
    [
      'an argument with NUL, from what a host said',
      `  - { name: say, action: shell.run, args: { script: "${NUL.replaceAll('\\', '\\\\')}" }, export: { said: '{{ result.stdout }}' } }\n`,
      `cmd.run, args: { cmd: [echo, '{{ said }}'] }`,
      /without null bytes/,
    ],
    ['a program without a name', '', `cmd.run, args: { cmd: [''] }`, /cannot be empty/],
  ])('%s', async (_title, before, action, message) => {
    const applied = await applyText(
      `steps:\n${before}  - { name: s, action: ${action}, continue_on_error: true }\n  - { name: last, action: cmd.run, args: { cmd: ['true'] } }`,
      { hosts: '{ a: { connection: local } }', onWaiting: expect.unreachable },
    );
    expect(applied.status).toBe('success');
    const failed = applied.run?.steps.find(({ name }) => name === 's')?.hosts['a'];
    expect(failed).toMatchObject({ status: 'failed', message: expect.stringMatching(message) as string });
    expect(failed?.message).toMatch(/^it could not be begun: /);
  });

  test('behind ssh as well: the words of a command travel as one argument', async () => {
    const { calls } = fakeSsh();
    const applied = await applyText(`steps: [{ name: s, action: shell.run, args: { script: "${LONG}" } }]`, {
      hosts: '{ far: {} }',
      onWaiting: expect.unreachable,
    });
    expect(applied.run?.message).toContain("step 's' failed on far: it could not be begun: ");
    expect(calls()).toEqual([]);
  });
});
