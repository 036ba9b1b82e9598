import { toJsonText } from '../../engine/json-text.js';
import { PawlError } from '../../errors.js';
import { readCommand, type Command, type CommandOf, type CommandType } from '../../kernel/index.js';

/**
 * Who may give a command through a server: `holder` while it holds the job, `client` like every application, nobody where
 * it is an operator's, the scheduler's or the recovery's to give: those stand beside the store.
 */
const GIVERS = {
  create: 'client',
  cancel: 'client',
  'complete-wait': 'client',
  complete: 'holder',
  'fail-attempt': 'holder',
  'time-out': 'holder',
  'begin-wait': 'holder',
  'consume-wait': 'holder',
  interrupt: 'holder',
  'expire-deadline': 'holder',
  'record-step': 'holder',
  'fail-step': 'holder',
  'begin-effect': 'holder',
  'record-effect': 'holder',
  'close-effect': 'holder',
  'doubt-effect': 'holder',
  'reconcile-effect': 'holder',
  'start-child': 'holder',
  'save-checkpoint': 'holder',
  promote: 'nobody',
  claim: 'nobody',
  heartbeat: 'nobody',
  'expire-waits': 'nobody',
  signal: 'nobody',
  'abort-recovery': 'nobody',
  'force-fail': 'nobody',
  'resolve-effect': 'nobody',
} as const satisfies Record<CommandType, 'holder' | 'client' | 'nobody'>;

type GivenBy<G> = { [T in CommandType]: (typeof GIVERS)[T] extends G ? T : never }[CommandType];
export type HolderCommand = CommandOf<GivenBy<'holder'>>;
export type ClientCommand = CommandOf<GivenBy<'client'>>;

/** What leads to one commit: commands of one holder, or one of a client's. */
export type Given =
  | {
      readonly by: 'holder';
      readonly commands: readonly [HolderCommand, ...HolderCommand[]];
      readonly attemptId: string;
    }
  | { readonly by: 'client'; readonly commands: readonly [ClientCommand] };

/** Commands of unknown origin, as far as they can be judged without their job. */
export function readGiven(values: readonly unknown[]): Given {
  const commands = values.map(readOne);
  for (const command of commands) expectPayloads(command);
  const [first] = commands;
  if (first === undefined) throw invalid('commands', 'is empty');
  if (GIVERS[first.type] === 'client' && commands.length === 1) {
    return { by: 'client', commands: [first as ClientCommand] };
  }
  for (const { type } of commands) {
    if (GIVERS[type] !== 'holder') {
      throw new PawlError('FORBIDDEN', { detail: `'${type}' is not for a remote worker to give` });
    }
  }
  const held = commands as unknown as readonly [HolderCommand, ...HolderCommand[]];
  const { attemptId } = held[0];
  if (held.some((command) => command.attemptId !== attemptId)) {
    throw invalid('attemptId', 'differs between the commands of one commit');
  }
  for (const command of held) expectDrained(command);
  return { by: 'holder', commands: held, attemptId };
}

function readOne(value: unknown): Command {
  try {
    return readCommand(value);
  } catch {
    throw invalid('commands', 'holds something that is no command');
  }
}

/** That a lease ran out, or that a worker came back, is for those to say who keep the leases. */
function expectDrained(command: HolderCommand): void {
  if (command.type !== 'interrupt' || command.cause.reason === 'drained') return;
  throw new PawlError('FORBIDDEN', { detail: 'a remote worker can hand its own job back, and nothing else' });
}

/** Payloads are kept as they come, for ever: they have to be what the engine itself would have written. */
export function expectPayload(text: string, what: string): void {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new PawlError('INVALID_REQUEST', { detail: `${what} is not JSON`, cause });
  }
  if (toJsonText(value, what) !== text) {
    throw new PawlError('INVALID_REQUEST', { detail: `${what} is not written as JSON.stringify does` });
  }
}

function expectPayloads(command: Command): void {
  for (const field of ['result', 'output', 'input', 'state'] as const) {
    const text = (command as { [F in typeof field]?: string })[field];
    if (text !== undefined) expectPayload(text, `${field} of '${command.type}'`);
  }
  if (command.type === 'reconcile-effect' && command.verdict.kind === 'happened') {
    expectPayload(command.verdict.result, 'what was found out');
  }
}

export function invalid(field: string, problem: string): PawlError {
  return new PawlError('INVALID_COMMAND', { detail: `${field} ${problem}`, details: { field } });
}
