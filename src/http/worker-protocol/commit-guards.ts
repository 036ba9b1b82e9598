import type { Engine } from '../../engine/engine.js';
import type { Extras } from '../../engine/prepare-commit.js';
import {
  childContinuation,
  readInherited,
  type ChildContinuation,
  type Inherited,
} from '../../engine/inherited.js';
import type { CommandOf, Job, StepIndex } from '../../kernel/index.js';
import type { EntryRef, NewOutboxEntry } from '../../ports/store.js';
import { checkFacts } from './entry-facts.js';
import { childOf, identitiesOf, type Offspring } from './new-work.js';
import { invalid, type Given } from './worker-commands.js';

type Guarded = {
  readonly asked: { readonly inboxRev: number | null; readonly children: readonly Offspring[] };
  readonly given: Given;
  readonly before: Job | null;
  readonly steps: StepIndex;
};

/** What the store must look at when it saves, and what the commit brings along: worked out here, not taken over. */
export async function guardsOf(
  engine: Engine,
  { asked, given, before, steps }: Guarded,
): Promise<Extras | 'moved'> {
  const [first] = given.commands;
  if (first.type === 'create') return { identities: identitiesOf(first.spec) };
  if (before === null) return {};
  let inherited: Inherited | null = null;
  const jobsBefore = async (): Promise<Inherited | null> => {
    const { continues } = before.spec;
    return (inherited ??= continues && (await readInherited(engine.store, continues)));
  };
  const consumed: string[] = [];
  const outbox: NewOutboxEntry[] = [];
  const entries: EntryRef[] = [];
  for (const command of given.commands) {
    const { type } = command;
    if (type === 'begin-effect' || type === 'reconcile-effect') {
      const entry = await checkFacts(engine, { job: before, steps, command });
      if (entry === 'moved') return 'moved';
      // A result that is stored is what the commit records; there is nothing left to overlook.
      if (entry !== null && command.storedResult === null) entries.push(entry);
    } else if (type === 'close-effect') {
      const { step, occurrence, entry } = command;
      entries.push({ step, occurrence, entry });
    } else if (type === 'start-child') {
      const from = await continuationFor(engine, await jobsBefore(), command);
      if (typeof from === 'string') return 'moved';
      outbox.push(childOf(before, command, { offspring: asked.children, continues: from }));
    } else if (type === 'complete-wait' || (type === 'consume-wait' && command.outcome === 'received')) {
      const key = type === 'complete-wait' ? command.key : command.wait.key;
      const isKept = type === 'consume-wait' && hasEndedBefore(await jobsBefore(), command);
      if (!isKept) {
        await expectMessage(engine, before, { key, payload: command.payload });
        consumed.push(key);
      }
    } else if (type === 'consume-wait' && command.payload !== null)
      throw invalid('payload', 'came from nowhere');
  }
  if (entries.length > 1) throw invalid('commands', 'settle more than one effect');
  return {
    attemptId: given.by === 'holder' ? given.attemptId : null,
    inboxRev: looksAtInbox(first) ? asked.inboxRev : null,
    noResultOf: entries[0] ?? null,
    consumed,
    outbox,
  };
}

/** What depends on it that no message has come. */
function looksAtInbox(command: Given['commands'][number]): boolean {
  const { type } = command;
  return type === 'begin-wait' || (type === 'consume-wait' && command.outcome === 'timeout');
}

/** A job before has received the same: it came to that one, and is in no inbox of this one. */
function hasEndedBefore(inherited: Inherited | null, { wait, payload }: CommandOf<'consume-wait'>): boolean {
  return (inherited?.kept() ?? []).some(
    ({ step, occurrence, found }) =>
      step === wait.step &&
      occurrence === wait.occurrence &&
      found.kind === 'wait' &&
      found.wait.key === wait.key &&
      found.payload === payload,
  );
}

/** The job that the child of a step goes on with: worked out here, not taken over. One that must not be started has to be looked for again. */
async function continuationFor(
  engine: Engine,
  inherited: Inherited | null,
  { wait, child }: CommandOf<'start-child'>,
): Promise<ChildContinuation> {
  return inherited && childContinuation(engine, inherited, { ...wait, ...child });
}

async function expectMessage(
  { store }: Engine,
  { spec }: Job,
  { key, payload }: { key: string; payload: string | null },
): Promise<void> {
  const { messages } = await store.inbox(spec.jobId);
  if (messages.some((message) => message.key === key && message.payload === payload)) return;
  throw invalid('payload', `is not what the inbox has for '${key}'`);
}
