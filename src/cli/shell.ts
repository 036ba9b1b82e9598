import { InvalidArgumentError, Option, type Command } from 'commander';
import type { Console } from './console.js';
import type { Self } from './crash-test.js';
import { didYouMean } from '../engine/did-you-mean.js';

/** What a command has at hand. */
export type Shell = {
  readonly console: Console;
  /** How to run this program again. */
  readonly self: Self;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Takes the exit code that a command ends with. */
  readonly ends: (code: Promise<number>) => Promise<void>;
};

/** Each command registers itself, with its options and its help. */
export type Register = (program: Command, shell: Shell) => void;

/** What every command may be told. Given to a group or to its commands, whichever is handier. */
export type Flags = {
  readonly store?: string;
  readonly config?: string;
  readonly json?: boolean;
};

/** A command with the options that all of them have. */
export function command(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .option('--store <url>', 'memory:, sqlite:<path> or postgres://… (env: PAWL_STORE, DATABASE_URL)')
    .option('--config <file>', 'instead of pawl.config.ts, .mts, .js or .mjs (env: PAWL_CONFIG)')
    .option('--json', 'print one line of JSON');
}

/** Whose data: everybody's, unless it is said. */
export function tenantOption(): Option {
  return new Option('--tenant <id>', 'only what belongs to this tenant');
}

/** For what is created: it has to belong to someone. */
export function ownerOption(): Option {
  return new Option('--tenant <id>', 'the tenant that it belongs to').default('default');
}

/** Who is doing this: it ends in the audit trail. */
export function byOption(): Option {
  return new Option('--by <name>', 'who is doing this, for the trail').default('cli').argParser(readName);
}

/** Two reviewers with no name could not be told apart. */
function readName(text: string): string {
  const name = text.trim();
  if (name !== '' && name.length <= 200) return name;
  throw new InvalidArgumentError('It takes a name of 1 to 200 characters.');
}

/** What the shell says of the work of a job that is done once more. */
export type RepeatingFlags = { readonly keepRecorded?: boolean; readonly repeatEffects?: boolean };

/** For what does the work of a job once more. */
export function repeatingOptions(of: Command): Command {
  return of
    .option('--keep-recorded', 'go on where the job was: what it has recorded is not done again')
    .addOption(
      new Option(
        '--repeat-effects',
        'from the start, also if effects happened, or may have: they are entered again',
      ).conflicts('keepRecorded'),
    );
}

/** As the engine is told. */
export const repeatingOf = ({ keepRecorded = false, repeatEffects = false }: RepeatingFlags) => ({
  keepRecorded,
  repeatEffects,
});

/** An option with a few known values; a near miss is told which one was probably meant. */
export function choiceOption(flags: string, description: string, known: readonly string[]): Option {
  return new Option(flags, description).choices(known).argParser((value: string) => {
    if (known.includes(value)) return value;
    throw new InvalidArgumentError(`It is one of ${known.join(', ')}${didYouMean(value, known)}.`);
  });
}

export function numberOption(
  flags: string,
  description: string,
  { least, most = Number.MAX_SAFE_INTEGER }: { least: number; most?: number },
): Option {
  return new Option(flags, description).argParser((value: string) => {
    const number = Number(value);
    if (/^-?\d+$/.test(value) && number >= least && number <= most) return number;
    const upTo = most === Number.MAX_SAFE_INTEGER ? ' or more' : ` to ${most}`;
    throw new InvalidArgumentError(`It is no whole number from ${least}${upTo}.`);
  });
}

/** An option as it is written: `workerId` is `--worker-id`. */
export function flagOf(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** Shown under a command's help. */
export function examples(of: Command, ...lines: readonly string[]): Command {
  return of.addHelpText('after', `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`);
}
