import type { Command } from 'commander';
import { utc } from '../../contracts/index.js';
import { toJsonText } from '../../engine/json-text.js';
import { resolveEffect, type OperatorVerdict } from '../../engine/operator.js';
import { unknownEffects } from '../../engine/unknown-effects.js';
import { PawlError } from '../../errors.js';
import { print } from '../console.js';
import { withApp } from '../open-app.js';
import {
  byOption,
  command,
  examples,
  numberOption,
  tenantOption,
  type Flags,
  type Register,
  type Shell,
} from '../shell.js';
import { table } from '../table.js';

type Options = Flags & { readonly tenant?: string };
type ResolveOptions = Options & {
  readonly occurrence: number;
  readonly entry?: number;
  readonly happened?: string | true;
  readonly notHappened?: boolean;
  readonly fail?: boolean;
  readonly by: string;
};

export const registerEffects: Register = (program, shell) => {
  const effects = command(
    program,
    'effects',
    'List the effects that nobody knows the outcome of, or decide on one.',
  ).action((_options: unknown, self: Command) => shell.ends(list(shell, self.optsWithGlobals<Options>())));
  effects.addOption(tenantOption());
  command(effects, 'list', 'The effects that nobody knows the outcome of.')
    .addOption(tenantOption())
    .action((_options: unknown, self: Command) => shell.ends(list(shell, self.optsWithGlobals<Options>())));
  const resolve = command(
    effects,
    'resolve <job-id> <step>',
    'Say what became of an effect that a job waits for.',
  )
    .option('--happened [json]', 'it happened, with this result')
    .option('--not-happened', 'it did not: the job may enter it again')
    .option('--fail', 'nobody can tell: the job is given up')
    .addOption(numberOption('--occurrence <n>', 'which use of the step', { least: 1 }).default(1))
    .addOption(
      numberOption('--entry <n>', 'the entry that was looked into: refused if the job waits for another', {
        least: 1,
      }),
    )
    .addOption(tenantOption())
    .addOption(byOption())
    .action((jobId: string, step: string, _options: unknown, self: Command) =>
      shell.ends(decide(shell, { jobId, step, ...self.optsWithGlobals<ResolveOptions>() })),
    );
  examples(effects, 'pawl effects', `pawl effects resolve 01JZ… charge --happened '{"id":"ch_1"}'`);
  examples(resolve, 'pawl effects resolve 01JZ… charge --not-happened --by ann');
};

function list(shell: Shell, options: Options): Promise<number> {
  return withApp(shell, options, async ({ engine }) => {
    const found = await unknownEffects(engine, options.tenant ?? null);
    const effects = found.map(({ jobId, task, step, occurrence, entry, waitingSince }) => ({
      job_id: jobId,
      job_type: task,
      step,
      occurrence,
      entry,
      waiting_since: utc(waitingSince),
    }));
    const rows = effects.map((one) => [
      one.job_id,
      one.job_type,
      `${one.step}#${one.occurrence}`,
      one.entry,
      one.waiting_since,
    ]);
    const text =
      rows.length === 0
        ? 'No job waits for a decision on an effect.'
        : `${table(['JOB', 'TASK', 'STEP', 'ENTRY', 'WAITING SINCE'], rows)}\n
Find out on the other side, then: pawl effects resolve <job> <step> --happened | --not-happened | --fail`;
    print(shell.console, { json: options.json ?? false, data: { effects }, text });
    return 0;
  });
}

async function decide(
  shell: Shell,
  { jobId, step, ...options }: ResolveOptions & { jobId: string; step: string },
): Promise<number> {
  const verdict = readVerdict(options);
  const { occurrence, entry = null, by, tenant: tenantId = null } = options;
  return withApp(
    shell,
    options,
    async ({ engine }) => {
      const asked = { jobId, step, occurrence, entry, verdict };
      await resolveEffect(engine, asked, { tenantId, actor: `operator:${by}` });
      print(shell.console, {
        json: options.json ?? false,
        data: { job_id: jobId, step, occurrence, verdict: verdict.kind },
        text: `Decided: ${step}#${occurrence} of job ${jobId} ${SAID[verdict.kind]}. The job goes on.`,
      });
      return 0;
    },
    { commands: true },
  );
}

const SAID = { happened: 'has happened', notHappened: 'has not happened', fail: 'is given up' } as const;

function readVerdict({ happened, notHappened, fail }: ResolveOptions): OperatorVerdict {
  const given = [happened !== undefined, notHappened === true, fail === true].filter(Boolean).length;
  if (given !== 1) throw wrong('give one of --happened, --not-happened and --fail');
  if (notHappened) return { kind: 'notHappened' };
  if (fail) return { kind: 'fail' };
  if (happened === true || happened === undefined) return { kind: 'happened', result: 'null' };
  try {
    return { kind: 'happened', result: toJsonText(JSON.parse(happened), 'the result of the effect') };
  } catch (error) {
    if (error instanceof PawlError) throw error;
    throw wrong(`--happened takes the result as JSON; ${JSON.stringify(happened)} is not`);
  }
}

function wrong(detail: string): PawlError {
  return new PawlError('INVALID_OPTION', { detail });
}
