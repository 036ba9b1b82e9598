import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { loadWorkflowText } from './load-workflow.js';
import { planLines } from './plan.js';

/** What is wrong with a workflow, each with its place. */
async function problems(text: string): Promise<string[]> {
  try {
    await loadWorkflowText(text, { file: 'w.yaml', folder: '/nowhere' });
    return [];
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    expect(code).toBe('WORKFLOW_INVALID');
    return message.split('\n').map((line) => line.replace(/\. Correct the places.*$/, ''));
  }
}

const steps = (...lines: readonly string[]): string =>
  [
    'version: 1',
    'name: deploy',
    'inventory:',
    '  hosts: { a: { connection: local }, b: { connection: local, vars: { x: 1 } } }',
    'steps:',
    ...lines,
  ].join('\n');

describe('RST-13 what is wrong with a workflow is told before anything runs, all of it, with file:line:column', () => {
  test('YAML itself', async () => {
    expect(await problems('version: 1\nname: [a\n')).toEqual([
      expect.stringMatching(/^w\.yaml:3:1: Flow sequence/),
    ]);
    expect(await problems('version: 1\nversion: 2\nname: a\nsteps: []')).toEqual([
      'w.yaml:2:1: Map keys must be unique',
    ]);
    expect(await problems('')).toEqual(['w.yaml:1:1: the workflow is no map']);
  });

  test('everything at once, in the order of the file', async () => {
    const text = [
      'version: 2',
      'name: deploy',
      'inventory:',
      '  hosts:',
      '    web-1: { adress: example.org }',
      '  groups:',
      '    web: { hosts: [web-1, web-9] }',
      'steps:',
      '  - name: one',
      '    action: cmd.rum',
      '    targets: [db]',
      '  - name: one',
      '    action: cmd.run',
      '    args: { cmd: "rm -rf /" }',
      '    retries: many',
      '    timeout: soon',
      '    notify: [restart]',
      '  - action: shell.run',
      '    args: { command: ls }',
      '    when: a ==',
    ].join('\n');
    expect(await problems(text)).toEqual([
      'w.yaml:1:10: version is not 1',
      "w.yaml:5:14: host 'web-1' knows no 'adress'; did you mean 'address'?",
      "w.yaml:7:27: there is no host 'web-9'",
      expect.stringMatching(/^w\.yaml:10:13: there is no action 'cmd\.rum'; there are cmd\.run, shell\.run/),
      "w.yaml:11:15: there is no host or group 'db'",
      "w.yaml:12:11: two steps are called 'one'",
      'w.yaml:14:18: cmd of cmd.run is a text: write a list, one member for each argument, or use shell.run',
      'w.yaml:15:14: retries is no whole number from 0 to 100',
      'w.yaml:16:14: timeout is no duration such as 30s, 5m or 1h',
      "w.yaml:17:13: there is no handler 'restart'",
      "w.yaml:18:5: steps[2] needs 'name'",
      "w.yaml:19:11: args of shell.run needs 'script'",
      "w.yaml:19:13: args of shell.run knows no 'command'",
      'w.yaml:20:11: it ends where a value is expected',
    ]);
  });

  test('variables that need each other, or that nobody sets', async () => {
    expect(
      await problems(steps('  - { name: s, action: cmd.run, args: { cmd: [echo, "{{ x }} {{ y }}"] } }')),
    ).toEqual(["w.yaml:6:39: there is no variable 'x' on host 'a'", "w.yaml:6:39: there is no variable 'y'"]);
    expect(
      await problems(
        `vars:\n  ok: 1\n  p: "{{ q }}"\n  q: "{{ p }}"\n${steps('  - { name: s, action: cmd.run, args: { cmd: [ls] } }')}`,
      ),
    ).toEqual(['w.yaml:3:3: variables need each other: p → q → p']);
    expect(
      await problems(
        steps(
          '  - { name: s, action: cmd.run, args: { cmd: [ls] }, must_vars: [x], expect_vars: [z], when: w == 1 }',
        ),
      ),
    ).toEqual([
      "w.yaml:6:65: there is no variable 'x' on host 'a'",
      "w.yaml:6:83: the step is to set 'z', and exports no such variable",
      "w.yaml:6:94: there is no variable 'w'",
    ]);
    expect(
      await problems(`${steps('  - { name: s, action: cmd.run, args: { cmd: [ls] } }')}\nexport: [nothing]`),
    ).toEqual(["w.yaml:7:9: nobody sets the variable 'nothing'"]);
    expect(
      await problems(`vars: { item: 1 }\n${steps('  - { name: s, action: cmd.run, args: { cmd: [ls] } }')}`),
    ).toEqual(["w.yaml:1:9: 'item' is set by the runner itself"]);
  });

  test('files, addresses and names that could be taken for something else', async () => {
    expect(await problems(steps('  - { name: s, action: script.shell, args: { file: no.sh } }'))).toEqual([
      'w.yaml:6:52: there is no file no.sh that can be read',
    ]);
    const hosts = 'inventory: { hosts: { a: { address: "-oProxyCommand=x" }, "b c": {} } }';
    expect(await problems(`version: 1\nname: d\n${hosts}\nsteps: []`)).toEqual([
      "w.yaml:3:37: address of host 'a' is '-oProxyCommand=x', which no ssh takes",
      "w.yaml:3:59: 'b c' is no name of a host",
    ]);
    expect(
      await problems(
        steps('  - { name: s, action: template.render, args: { dest: /x, src: "{{ x }}", content: y } }'),
      ),
    ).toEqual([
      'w.yaml:6:49: template.render takes src or content, one of them',
      'w.yaml:6:64: which file is read cannot depend on variables: it is read before anything runs',
      'w.yaml:6:64: there is no file {{ x }} that can be read',
    ]);
    expect(
      await problems(
        steps('  - { name: s, action: wait.approval, targets: a, args: { event: "no blanks" } }'),
      ),
    ).toEqual(
      [
        expect.stringMatching(/^w\.yaml:6:39: wait\.approval is for the whole run/),
        expect.stringMatching(/^w\.yaml:6:66: event is 'no blanks', which does not match/),
      ].map((line) => line as unknown),
    );
  });

  test('what an action has no use for, and a template in a file that cannot be read', async () => {
    expect(
      await problems(steps('  - { name: s, action: wait.event, args: { event: go }, loop: [1] }')),
    ).toEqual(["w.yaml:6:57: wait.event has no use for 'loop'"]);
    expect(
      await problems(steps('  - { name: s, action: env.set, args: { A: b }, probe: [ls], probe_after: 1s }')),
    ).toEqual([
      "w.yaml:6:49: env.set has no use for 'probe'",
      "w.yaml:6:62: env.set has no use for 'probe_after'",
    ]);
    const folder = mkdtempSync(join(tmpdir(), 'pawl-template-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'conf'), 'port={{ port');
    const text = steps('  - { name: s, action: template.render, args: { src: conf, dest: /tmp/x } }');
    await expect(loadWorkflowText(text, { file: 'w.yaml', folder })).rejects.toThrow(
      "w.yaml:6:54: conf: a '{{' has no '}}'",
    );
  });

  test('aliases are followed, and a bomb of them is refused', async () => {
    expect(
      await problems(
        `x-unused: &cmd [ls]\n${steps('  - { name: s, action: cmd.run, args: { cmd: [ls] } }')}`,
      ),
    ).toEqual(["w.yaml:1:1: the workflow knows no 'x-unused'"]);
    const bomb = [
      'a: &a [x, x, x, x, x, x, x, x, x]',
      ...'bcdefgh'
        .split('')
        .map((name, n) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[n]}`).join(', ')}]`),
    ];
    const text = `vars:\n${bomb.map((line) => `  ${line}`).join('\n')}\n${steps('  - { name: s, action: cmd.run, args: { cmd: [ls] } }')}`;
    expect((await problems(text)).join()).toContain('Excessive alias count');
  });
});

test('RST-13 the plan says what would run where, and what nobody can say yet', async () => {
  const { workflow } = await loadWorkflowText(
    steps(
      '  - { name: copy, action: cmd.run, args: { cmd: [ls] }, export: { found: "{{ result.stdout }}" } }',
      '  - { name: only-b, action: cmd.run, args: { cmd: [ls] }, when: x is defined and x == 1, loop: [1, 2] }',
      '  - { name: later, action: shell.run, args: { script: ls }, when: found == "y", notify: [restart] }',
      '  - { name: Go live, action: wait.approval }',
      'handlers: [{ name: restart, action: cmd.run, args: { cmd: [ls] } }]',
    ),
  );
  expect(planLines(workflow)).toEqual([
    'deploy: 4 steps on 2 hosts',
    '1. copy  cmd.run',
    '   runs on a, b',
    '2. only-b  cmd.run',
    '   runs on b (2 items)',
    '   is skipped on a (0 items)',
    '3. later  shell.run',
    '   depends on earlier steps on a, b',
    '4. Go live  wait.approval  waits for somebody',
    'handler restart  cmd.run  if notified',
    '   runs on a, b',
  ]);
});
