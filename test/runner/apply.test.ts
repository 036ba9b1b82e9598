import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { pawl, type Recorder, type RunCallback, type RunPatch, type RunSnapshot } from '../../src/index.js';
import { memoryRunStates as ownStates } from '../../src/stores/memory/run-states.js';
import { applyText, newFolder, outputOf, SILENT, statuses } from './apply-text.js';
import { isAlive } from './is-alive.js';

describe('RST-13 a workflow on this machine', () => {
  test('steps in order, variables global < group < host, exports, and answers with run_id and status', async () => {
    const applied = await applyText(
      `vars: { color: none, size: 1, release: 'r-{{ color }}-{{ size }}' }
steps:
  - { name: show, action: cmd.run, args: { cmd: [echo, '{{ host.name }} {{ release }}'] }, export: { said: '{{ result.stdout }}' }, expect_vars: [said] }
  - { name: only, action: cmd.run, targets: [web], when: color == 'red' and size >= 2, args: { cmd: [echo, 'again: {{ said }}'] }, must_vars: [said] }
  - { name: each, action: cmd.run, targets: a, loop: ['x y', '2'], args: { cmd: [echo, 'item {{ item }}'] } }
export: [said]`,
      {
        hosts:
          '{ a: { connection: local, vars: { color: red } }, b: { connection: local } }, groups: { web: { hosts: [a, b], vars: { color: blue, size: 2 } } }',
      },
    );
    expect(applied.runId).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
    expect(applied).toMatchObject({ status: 'success', run: { run_id: applied.runId, status: 'success' } });
    expect(applied.exported).toEqual({ a: { said: 'a r-red-2' }, b: { said: 'b r-blue-2' } });
    expect(statuses(applied)).toEqual({
      show: { a: 'success', b: 'success' },
      only: { a: 'success', b: 'skipped' },
      each: { a: 'success' },
    });
    expect(outputOf(applied, 'only', 'a')).toBe('again: a r-red-2\n');
    expect(outputOf(applied, 'each', 'a')).toBe('item x y\nitem 2\n');
  });

  test('a command is its words: no shell reads them, whatever is in a variable', async () => {
    const folder = newFolder();
    const applied = await applyText(
      `vars: { evil: '$(touch ${folder}/harm); \`x\` "q" ''s'' {}' }
steps:
  - { name: cmd, action: cmd.run, targets: a, args: { cmd: [printf, '%s|', '{{ evil }}', '', '-n'], cwd: '${folder}' } }
  - { name: shell, action: shell.run, targets: a, args: { script: 'echo "$WORD" | tr a-z A-Z', env: { WORD: '{{ evil }}' } } }`,
    );
    const evil = `$(touch ${folder}/harm); \`x\` "q" 's' {}`;
    expect(outputOf(applied, 'cmd', 'a')).toBe(`${evil}||-n|`);
    expect(outputOf(applied, 'shell', 'a')).toBe(`${evil.toUpperCase()}\n`);
    expect(existsSync(join(folder, 'harm'))).toBe(false);
  });

  test('a failure ends the run after its step, with the other hosts done; continue_on_error goes on', async () => {
    const failing = (more: string): string =>
      `steps:
  - { name: one, action: shell.run, args: { script: 'echo "no space" >&2; test {{ host.name }} = b' }${more} }
  - { name: two, action: cmd.run, args: { cmd: ['true'] } }`;
    const failed = await applyText(failing(''));
    expect(failed.status).toBe('failed');
    expect(statuses(failed)).toEqual({ one: { a: 'failed', b: 'success' } });
    expect(failed.run).toMatchObject({
      message: "step 'one' failed on a: exit 1: no space",
      last_error: { code: 'WORKFLOW_FAILED', message: "step 'one' failed on a: exit 1: no space" },
    });
    const went = await applyText(failing(', continue_on_error: true'));
    expect(went.status).toBe('success');
    expect(statuses(went)).toEqual({
      one: { a: 'failed', b: 'success' },
      two: { a: 'success', b: 'success' },
    });
    expect(went.run?.last_error?.code).toBe('STEP_FAILED');
  });

  test('retries: as often as the step says, and no more', async () => {
    const folder = newFolder();
    const step = (enough: number): string =>
      `steps: [{ name: s, action: shell.run, targets: a, retries: 2, retry_delay: 1ms, args: { script: 'echo x >> n${enough}; test $(wc -l < n${enough}) -ge ${enough}', cwd: '${folder}' } }]`;
    expect((await applyText(step(3))).status).toBe('success');
    expect((await applyText(step(9))).status).toBe('failed');
    expect(readFileSync(join(folder, 'n3'), 'utf8')).toBe('x\nx\nx\n');
    expect(readFileSync(join(folder, 'n9'), 'utf8')).toBe('x\nx\nx\n');
  });

  test('a command that takes too long is ended, with all that it started', async () => {
    const folder = newFolder();
    const applied = await applyText(
      `steps: [{ name: s, action: shell.run, targets: a, timeout: 150ms, args: { script: 'sleep 60 & echo $! > child; wait', cwd: '${folder}' } }]`,
    );
    expect(applied.run?.steps[0]?.hosts['a']).toMatchObject({
      status: 'failed',
      message: 'timed out after 150 ms',
    });
    const child = Number(readFileSync(join(folder, 'child'), 'utf8'));
    expect(isAlive(child)).toBe(false);
  });

  test('a program that is not there, variables that must be and are not', async () => {
    const applied = await applyText(
      `steps:
  - { name: none, action: cmd.run, targets: a, args: { cmd: [no-such-program-here] }, continue_on_error: true }
  - { name: maybe, action: cmd.run, when: host.name == 'b', args: { cmd: [echo, x] }, export: { found: '{{ result.stdout }}' } }
  - { name: must, action: cmd.run, args: { cmd: ['true'] }, must_vars: [found], continue_on_error: true }
  - { name: expects, action: shell.run, targets: a, args: { script: 'echo null' }, export: { got: '{{ result.none }}' }, expect_vars: [got] }`,
    );
    expect(applied.run?.steps.map(({ hosts }) => hosts['a']?.message)).toEqual([
      "there is no program 'no-such-program-here', or no folder to run it in",
      null,
      'must have found',
      "there is no variable 'result.none'",
    ]);
    expect(statuses(applied)['must']).toEqual({ a: 'failed', b: 'success' });
  });

  test('env.set, script.shell, template.render, and handlers once for each host that changed', async () => {
    const folder = newFolder();
    writeFileSync(join(folder, 'hello.sh'), 'echo "script $1 $GREETING"\n');
    writeFileSync(join(folder, 'conf.tpl'), 'host={{ host.name }}\n');
    const text = `steps:
  - { name: env, action: env.set, args: { GREETING: 'hi {{ host.name }}' } }
  - { name: script, action: script.shell, args: { file: hello.sh, args: ["it's"] } }
  - { name: conf, action: template.render, args: { src: conf.tpl, dest: '${folder}/{{ host.name }}.conf', mode: '600' }, notify: [restart] }
handlers:
  - { name: restart, action: cmd.run, args: { cmd: [echo, restarted] } }
  - { name: never, action: cmd.run, args: { cmd: ['false'] } }`;
    writeFileSync(join(folder, 'b.conf'), 'host=b\n', { mode: 0o600 });
    const applied = await applyText(text, { folder });
    expect(applied.status).toBe('success');
    expect(outputOf(applied, 'script', 'b')).toBe("script it's hi b\n");
    expect(readFileSync(join(folder, 'a.conf'), 'utf8')).toBe('host=a\n');
    expect(statSync(join(folder, 'a.conf')).mode & 0o777).toBe(0o600);
    expect(statuses(applied)['restart']).toEqual({ a: 'success' });
    const again = await applyText(text, { folder });
    expect(Object.keys(statuses(again))).toEqual(['env', 'script', 'conf']);
  });

  test('wait.until asks until the answer is yes, or it is too late', async () => {
    const folder = newFolder();
    const applied = await applyText(
      `steps:
  - { name: begin, action: shell.run, targets: a, args: { script: '(sleep 0.2; touch ready) >/dev/null 2>&1 &', cwd: '${folder}' } }
  - { name: ready, action: wait.until, targets: a, args: { cmd: [test, -f, '${folder}/ready'], every: 20ms } }
  - { name: never, action: wait.until, targets: a, timeout: 100ms, args: { cmd: [test, -f, '${folder}/never'], every: 20ms } }`,
    );
    expect(statuses(applied)).toEqual({
      begin: { a: 'success' },
      ready: { a: 'success' },
      never: { a: 'failed' },
    });
    expect(applied.run?.message).toContain('not in time');
  });
});

describe('RST-13 somebody is waited for', () => {
  const text = `steps:
  - { name: Go live, action: wait.approval, args: { reason: 'the release is ready' } }
  - { name: version, action: wait.event, args: { event: chosen }, export: { release: '{{ event.version }}' } }
  - { name: show, action: cmd.run, targets: a, args: { cmd: [echo, '{{ release }}'] } }`;

  test.each([
    ['approved', true, 'success'],
    ['refused', { approved: false }, 'failed'],
  ])('%s', async (_title, approval, status) => {
    const store = `sqlite:${join(newFolder(), 'pawl.db')}`;
    const other = await pawl({ store, log: SILENT });
    const seen: string[] = [];
    let id = '';
    const applied = await applyText(text, {
      store,
      runs: store,
      onStarted: (runId) => (id = runId),
      onWaiting: (sentence) => {
        seen.push(sentence);
        void other.job(id).signal('go-live', approval);
        void other.job(id).signal('chosen', { version: 'v7' });
      },
    });
    expect(seen[0]).toContain('go-live');
    expect(applied.status).toBe(status);
    if (status === 'success') expect(outputOf(applied, 'show', 'a')).toBe('v7\n');
    else expect(applied.run?.message).toBe("step 'Go live': go-live was refused");
    await other.close();
  });
});

describe('RST-13 the options of a run', () => {
  const text = `steps: [{ name: s, action: cmd.run, args: { cmd: ['true'] } }]`;

  test('RST-6 tracking switched off changes nothing but that nobody keeps the state', async () => {
    const applied = await applyText(text, { runs: false });
    expect(applied).toMatchObject({ status: 'success', run: null });
  });

  test('RST-6 a store of the host’s that fails neither stops nor changes the run; it is told, and catches up', async () => {
    const kept = ownStates();
    const logged: string[] = [];
    let down = true;
    const unless =
      <A extends unknown[], R>(call: (...asked: A) => Promise<R>) =>
      async (...asked: A): Promise<R> => {
        if (down) throw new Error('the store is down');
        return call(...asked);
      };
    const runs = {
      ...kept,
      createRun: unless((run: RunSnapshot) => kept.createRun(run)),
      updateRun: unless((patch: RunPatch, version: number) => kept.updateRun(patch, version)),
      getRun: unless((runId: string) => kept.getRun(runId)),
    };
    const applied = await applyText(
      `${text.slice(0, -1)}, { name: t, action: cmd.run, args: { cmd: ['true'] } }]`,
      {
        runs,
        recorders: [{ stepFinish: () => void (down = false) }],
        log: { ...SILENT, error: (message) => void logged.push(message) },
      },
    );
    expect(applied).toMatchObject({ status: 'success', run: { status: 'success' } });
    expect(statuses(applied)).toEqual({
      s: { a: 'success', b: 'success' },
      t: { a: 'success', b: 'success' },
    });
    expect(logged).toEqual([
      'the state of a run could not be read',
      'the state of a run could not be saved, and is tried again',
    ]);
  });

  test('RST-4 a run whose job and state are both in memory warns once', async () => {
    const warned: string[] = [];
    const log = { ...SILENT, warn: (message: string) => void warned.push(message) };
    await applyText(text, { log });
    expect(warned).toEqual(['persistent storage is not enabled: runs are visible in this process only']);
    await applyText(text, { log, runs: false });
    expect(warned).toHaveLength(2);
  });

  test('a run id of the caller’s, a notifier, and recorders beside the tracker', async () => {
    const told: RunCallback[] = [];
    const lines: string[] = [];
    const recorder: Recorder = { hostResult: ({ host, status }) => lines.push(`${host} ${status}`) };
    const applied = await applyText(text, {
      runId: 'release-2027-01',
      notifier: { detail: 'step', notify: (change) => void told.push(change) },
      recorders: [recorder],
    });
    expect(applied.runId).toBe('release-2027-01');
    expect(lines.toSorted()).toEqual(['a success', 'b success']);
    expect(told.map(({ status, step }) => [status, step])).toEqual([
      ['running', null],
      ['running', 's'],
      ['success', 's'],
      ['success', null],
    ]);
    await expect(applyText(text, { runId: '../x' })).rejects.toMatchObject({ code: 'INVALID_OPTION' });
    await expect(applyText(text, { parallel: 0 })).rejects.toMatchObject({ details: { option: 'parallel' } });
  });

  test('a run that has ended is not run again; another workflow under its id is refused', async () => {
    const folder = newFolder();
    const store = `sqlite:${join(folder, 'pawl.db')}`;
    const counted = `steps: [{ name: s, action: shell.run, targets: a, args: { script: 'echo x >> ${folder}/count' } }]`;
    const options = { store, runs: store, runId: 'run_twice_1' };
    expect((await applyText(counted, options)).status).toBe('success');
    expect((await applyText(counted, options)).status).toBe('success');
    expect(readFileSync(join(folder, 'count'), 'utf8')).toBe('x\n');
    await expect(applyText(text, options)).rejects.toMatchObject({ code: 'DUPLICATE' });
  });

  test('two hundred hosts at once, but never more than the limit', async () => {
    const names = Array.from({ length: 200 }, (_, n) => `h${n}`);
    let [now, most] = [0, 0];
    const recorder: Recorder = {
      hostStart: () => void (most = Math.max(most, (now += 1))),
      hostResult: () => void (now -= 1),
    };
    const applied = await applyText(
      `steps: [{ name: s, action: cmd.run, args: { cmd: [echo, '{{ host.name }}'] } }]`,
      {
        hosts: `{ ${names.map((name) => `${name}: { connection: local }`).join(', ')} }`,
        parallel: 25,
        recorders: [recorder],
      },
    );
    expect(applied.status).toBe('success');
    expect([now, most]).toEqual([0, 25]);
    expect(names.every((name) => outputOf(applied, 's', name) === `${name}\n`)).toBe(true);
  });
});
