import { describe, expect, test } from 'vitest';
import { loadWorkflowText } from '../../src/runner/index.js';
import type { Problem } from '../../src/runner/yaml-reader.js';

/** What is wrong with the steps of a workflow, each with its line: the first step is in line 1. */
async function problems(steps: readonly string[], { host = 'a', more = '' } = {}): Promise<string[]> {
  const text = `steps:\n${steps.map((step) => `  - { ${step} }\n`).join('')}inventory: { hosts: { ${host}: { connection: local } } }\nversion: 1\nname: test\n${more}`;
  try {
    await loadWorkflowText(text, { folder: '/nowhere' });
    return [];
  } catch (error) {
    const { code, details } = error as { code: string; details: { problems: Problem[] } };
    expect(code).toBe('WORKFLOW_INVALID');
    return details.problems.map(({ line, message }) => `${line - 1}: ${message}`);
  }
}

const LIST = 'action: cmd.run, args: { cmd: [ls] }';

describe('RST-13 everything is checked before anything runs: names that a job does not take', () => {
  test('a name with #, or $ in front; the name of a wait is in no record', async () => {
    expect(
      await problems([
        `name: 'build #2', ${LIST}`,
        `name: $build, ${LIST}`,
        `name: 'Go #2', action: wait.approval`,
        `name: 'costs $2', ${LIST}`,
      ]),
    ).toEqual([
      "1: 'build #2' is no name of a step: it has a '#', or begins with '$'",
      "2: '$build' is no name of a step: it has a '#', or begins with '$'",
    ]);
  });

  test.each([
    ['', 1],
    [', loop: [1, 2]', 4],
    [`, loop: '{{ list }}'`, 9],
    [', retries: 9', 14],
    [', retries: 9, loop: [1]', 17],
  ])('names of a step and a host that together are too long%s', async (also, room) => {
    const host = 'h'.repeat(120);
    const of = (length: number): Promise<string[]> =>
      problems([`name: ${'s'.repeat(length)}, ${LIST}${also}`], { host, more: 'vars: { list: [1] }' });
    expect(await of(80 - room)).toEqual([]);
    expect(await of(81 - room)).toEqual([
      expect.stringMatching(/^1: 's+' and host 'h+' .* too long together, by 1$/),
    ]);
  });

  test('two waits for one event, whether it is named or made of the name of the step', async () => {
    expect(
      await problems([
        'name: Approve, action: wait.approval',
        'name: approve!, action: wait.approval',
        'name: third, action: wait.event, args: { event: approve }',
        'name: fourth, action: wait.approval, args: { event: other }',
      ]),
    ).toEqual([
      "2: 'approve!' waits for 'approve', as 'Approve' does: give it an event of its own",
      "3: 'third' waits for 'approve', as 'approve!' does: give it an event of its own",
    ]);
  });

  test('an export that no template would ever find', async () => {
    expect(await problems([`name: s, ${LIST}, export: { host: x, run_id: x, 'a b': x, fine: x }`])).toEqual([
      "1: 'host' is set by the runner itself",
      "1: 'run_id' is set by the runner itself",
      "1: 'a b' is no name of a variable",
    ]);
  });
});

describe('RST-13 everything is checked before anything runs: what a wait for the whole run can know', () => {
  const COUNT = `name: count, ${LIST}, export: { pages: '{{ result.stdout }}' }`;
  const ASK = 'name: ask, action: wait.event';

  test('neither what hosts export, nor a host', async () => {
    expect(
      await problems([
        COUNT,
        `${ASK}, when: pages > 3, args: { event: go, reason: 'on {{ host.name }}' }`,
        `name: show, action: cmd.run, when: pages > 3, args: { cmd: [echo, '{{ host.name }}'] }`,
      ]),
    ).toEqual([
      "2: there is no variable 'pages' for the run as a whole",
      "2: there is no variable 'host' for the run as a whole",
    ]);
  });

  test('nor a global variable that needs a host; others it does know, and what waits before it export', async () => {
    const asking = (reason: string) =>
      problems(
        [
          `${ASK}, args: { event: go }, export: { who: '{{ event.by }}' }`,
          `name: more, action: wait.event, args: { event: more, reason: '{{ ${reason} }}' }`,
          `name: show, action: cmd.run, args: { cmd: [echo, '{{ who }}'] }`,
        ],
        {
          more: "vars: { folder: 'of {{ host.name }}', inner: 'in {{ folder }}', label: 'of {{ run_id }}' }",
        },
      );
    expect(await asking('inner')).toEqual(["2: there is no variable 'inner' for the run as a whole"]);
    expect(await asking('label')).toEqual([]);
    expect(await asking('who')).toEqual([]);
  });

  test('an export is made of an event here, and of a result on hosts', async () => {
    expect(
      await problems([
        `${ASK}, args: { event: go }, export: { a: '{{ result.stdout }}' }`,
        `name: s, ${LIST}, export: { b: '{{ event.by }}' }`,
      ]),
    ).toEqual(["1: there is no variable 'result' for the run as a whole", "2: there is no variable 'event'"]);
  });
});

describe('RST-13 the mode that template.render gives is what the file says', () => {
  const modeOf = (mode: string): Promise<string[]> =>
    problems([`name: s, action: template.render, args: { dest: /x, content: y, mode: ${mode} }`]);

  test.each(['644', '0644', "'644'", "'0600'"])('%s', async (mode) => {
    expect(await modeOf(mode)).toEqual([]);
  });

  test.each(['0o644', '0x1A4', '1e2', '888', 'u+x', "''", '[644]', '6440'])('never %s', async (mode) => {
    expect(await modeOf(mode)).toEqual([expect.stringMatching(/^1: mode is /)]);
  });
});
