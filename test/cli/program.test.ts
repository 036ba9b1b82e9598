import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { Command } from 'commander';
import { COMMANDS, run } from '../../src/cli/program.js';
import { effect, pawl as open, task } from '../../src/index.js';

const folder = mkdtempSync(join(tmpdir(), 'pawl-cli-'));
afterAll(() => rmSync(folder, { recursive: true }));

type Ended = { readonly code: number; readonly out: string; readonly err: string };

async function pawl(...args: string[]): Promise<Ended> {
  let [out, err] = ['', ''];
  const code = await run(
    args,
    {
      out: (text) => void (out += text),
      err: (text) => void (err += text),
      isTerminal: false,
    },
    [process.execPath],
  );
  return { code, out, err };
}

const storeAt = (name: string): string => `sqlite:${join(folder, name)}`;

test.each(Object.entries(COMMANDS))('%s is loaded by its name, and without others', async (name, load) => {
  const program = new Command();
  const console = { out: () => undefined, err: () => undefined, isTerminal: false };
  const register = await load();
  register(program, { console, self: [process.execPath], env: {}, cwd: folder, ends: async () => undefined });
  expect(program.commands.map((command) => command.name())).toEqual([name]);
});

test('help lists all commands, in their order', async () => {
  const { code, out } = await pawl('--help');
  const listed = [...out.matchAll(/^ {2}([a-z-]+)[ \w<>[\].|-]* {2,}\S/gm)].map(([, name]) => name);
  const shown = Object.keys(COMMANDS).filter((name) => name !== 'crash-writer');
  expect(listed.filter((name) => shown.includes(name ?? ''))).toEqual(shown);
  expect(code).toBe(0);
});

describe('pawl migrate', () => {
  test('a dry run prints SQL that makes the schema, and makes nothing', async () => {
    const store = storeAt('dry.db');
    const { code, out } = await pawl('migrate', '--store', store, '--dry-run');
    expect(code).toBe(0);
    expect(out).toContain('CREATE TABLE jobs');
    expect(readdirSync(folder)).not.toContain('dry.db');
    expect(await pawl('migrate', '--store', store, '--json')).toEqual({
      code: 0,
      out: '{"changed":true}\n',
      err: '',
    });
    expect((await pawl('migrate', '--store', store, '--dry-run')).out).toBe('-- nothing to do\n');
  });

  test('--verify fails on a schema that is not there, with a code and what to do', async () => {
    writeFileSync(join(folder, 'verify.db'), '');
    const { code, err } = await pawl('migrate', '--store', storeAt('verify.db'), '--verify');
    expect(code).toBe(1);
    expect(err).toContain('STORE_OUTDATED');
    expect(err).toContain('pawl migrate');
  });
});

describe('pawl effects', () => {
  test('GUA-4 an unknown outcome is listed, and decided on in one command', async () => {
    const store = storeAt('effects.db');
    const charge = effect({
      name: 'charge',
      run: (): string => {
        throw new Error('connection reset');
      },
    });
    const order = task({ name: 'order' }, ({ step }) => step.effect('charge', charge, 700));
    const app = await open({ store, tasks: [order] });
    onTestFinished(() => app.close());
    await app.work({ stopOnSignal: false, poll: '50ms' });
    const { job } = await app.start(order, null);
    await expect.poll(async () => (await job.why()).code).toBe('effect_unknown');
    const listed = await pawl('effects', '--store', store, '--json');
    expect(JSON.parse(listed.out)).toMatchObject({
      effects: [{ job_id: job.id, step: 'charge', occurrence: 1, entry: 1 }],
    });
    expect((await pawl('effects', 'list', '--store', store)).out).toContain(`${job.id}  order  charge#1`);

    const resolve = (...rest: string[]) => pawl('effects', '--store', store, 'resolve', job.id, ...rest);
    expect(await resolve('charge')).toMatchObject({
      code: 2,
      err: expect.stringContaining('one of --happened'),
    });
    expect(await resolve('charge', '--happened', '{')).toMatchObject({ code: 2 });
    expect(await resolve('other', '--fail')).toMatchObject({
      code: 3,
      err: expect.stringContaining('WAIT_NOT_OPEN'),
    });
    const decided = await resolve('charge', '--happened', '"ch_7"', '--by', 'ann');
    expect(decided).toMatchObject({ code: 0, out: expect.stringContaining('charge#1 of job') });
    expect(await job.result({ timeout: '200s' })).toBe('ch_7');
    expect((await pawl('effects', '--store', store)).out).toBe('No job waits for a decision on an effect.\n');
  });
});

describe('bad input', () => {
  test('an unknown command, a missing option, an unknown topic: usage, exit code 2', async () => {
    expect(await pawl('explode')).toMatchObject({ code: 2, err: expect.stringContaining('unknown command') });
    expect(await pawl('doctor', '--all')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--restored'),
    });
    expect(await pawl('doctor', '--restored', '--all', '--except', 'mail')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--except has no meaning with --all'),
    });
    expect(await pawl('conformance', '--topic', 'x')).toMatchObject({
      code: 2,
      err: expect.stringContaining('append'),
    });
  });

  test('near misses are told what was probably meant', async () => {
    expect((await pawl('jbos')).err).toContain('Did you mean jobs?');
    expect((await pawl('jobs', 'lsit')).err).toContain('Did you mean list?');
    expect((await pawl('jobs', 'list', '--sate', 'x')).err).toContain('Did you mean --state?');
    expect((await pawl('jobs', 'list', '--state', 'runing')).err).toContain("did you mean 'running'");
  });

  test.each([
    [['jobs', 'list', '--limit', 'all'], 'no whole number'],
    [['jobs', 'list', '--sate', 'x'], 'Did you mean --state?'],
    [['jbos'], 'Did you mean jobs?'],
    [['jobs', 'show'], "missing required argument 'job-id'"],
    [['jobs'], 'a command is missing'],
    [[], ''],
  ])('with --json %j is one line of JSON like everything else that is wrong', async (args, problem) => {
    const { code, out, err } = await pawl(...args, '--json');
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/^\{.*\}\n$/);
    expect(JSON.parse(err)).toEqual({
      error: {
        code: 'INVALID_OPTION',
        message: expect.stringContaining(problem) as string,
        retryable: false,
        class: 'validation',
      },
    });
  });

  test('so is a bug of ours, and its exit code stays', async () => {
    let err = '';
    const console = {
      out: () => {
        throw new TypeError('nobody listens');
      },
      err: (text: string) => void (err += text),
      isTerminal: false,
    };
    const args = ['migrate', '--store', 'memory:'];
    expect(await run([...args, '--json'], console, [process.execPath])).toBe(70);
    expect(err).toMatch(/^\{.*\}\n$/);
    expect(JSON.parse(err)).toEqual({
      error: {
        code: 'INTERNAL',
        message: 'nobody listens',
        retryable: false,
        class: 'permanent',
        stack: expect.stringMatching(/^TypeError: nobody listens\n +at /) as string,
      },
    });
    err = '';
    expect(await run(args, console, [process.execPath])).toBe(70);
    expect(err).toMatch(/^TypeError: nobody listens\n +at /);
  });

  test('an address that is none, without the password in the answer', async () => {
    const { code, err } = await pawl('migrate', '--store', 'mysql://user:secret@host/db', '--json');
    expect(code).toBe(2);
    expect(JSON.parse(err)).toMatchObject({ error: { code: 'STORE_URL_INVALID', retryable: false } });
    expect(err).not.toContain('secret');
  });

  test('a folder that is not there', async () => {
    expect(await pawl('migrate', '--store', 'sqlite:/no/such/folder/x.db')).toMatchObject({
      code: 75,
      err: expect.stringContaining('STORE_UNAVAILABLE'),
    });
  });
});

test('every command explains itself', async () => {
  const { out: help } = await pawl('--help');
  expect(help).toContain('Exit codes');
  const names = (text: string): string[] =>
    [...text.slice(text.indexOf('Commands:')).matchAll(/^ {2}([a-z-]+) /gm)].map(([, name = '']) => name);
  const commands = names(help).filter((name) => name !== 'help');
  expect(commands.length).toBeGreaterThan(14);
  for (const command of commands) {
    const { code, out } = await pawl(command, '--help');
    expect(code).toBe(0);
    expect(out).toContain('--store <url>');
    expect(out, command).toContain('Examples:');
    for (const inner of out.includes('Commands:') ? names(out).filter((name) => name !== 'help') : []) {
      expect((await pawl(command, inner, '--help')).out, `${command} ${inner}`).toMatch(/--store <url>/);
    }
  }
});

test('ids in examples look like those that there are', async () => {
  for (const verb of ['show', 'requeue', 'discard', 'approve'])
    expect((await pawl('dlq', verb, '--help')).out).toContain(`pawl dlq ${verb} dlq_01JZ…`);
});

test('pawl conformance checks a store in scratch files and leaves none', async () => {
  const { code, out } = await pawl(
    'conformance',
    '--store',
    storeAt('own.db'),
    '--topic',
    'append',
    '--json',
  );
  expect(code).toBe(0);
  const report = JSON.parse(out) as { passed: number; failed: number };
  expect(report.failed).toBe(0);
  expect(report.passed).toBeGreaterThan(3);
  expect(readdirSync(folder).filter((name) => name.startsWith('.pawl'))).toEqual([]);
});
