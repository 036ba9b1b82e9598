import { PawlError } from '../../errors.js';
import type { CommitItem, CommitReplies, CommitReply } from '../../ports/store.js';
import { groupCommit } from '../group-commit.js';
import { fitRequests } from './fit-requests.js';
import { refusal, type Answer } from './channel.js';
import { expectNoOperator } from './unsupported.js';

type Refused = { readonly error: { readonly code: string; readonly message: string } };
export type SendCommits = (body: string) => Promise<Answer<{ replies: readonly (CommitReply | Refused)[] }>>;

/** Commits in one request. More make the first of them wait for the last. */
const MOST_IN_REQUEST = 200;

/** Sends commits, as many together as have come together. What the server has to say about one concerns no other. */
export function remoteCommits(send: SendCommits): (items: readonly CommitItem[]) => Promise<CommitReplies> {
  let now = 0;
  const commit = groupCommit<string, CommitReply>(
    async (asks) => {
      const answers: (CommitReply | Promise<CommitReply>)[] = [];
      for (const group of fitRequests(asks)) {
        const answer = await send(`{"commits":[${group.join(',')}]}`);
        now = Math.max(now, answer.now);
        answers.push(...answer.replies.map(replyOf));
      }
      return answers;
    },
    { most: MOST_IN_REQUEST },
  );
  return async (items) => {
    const replies = await commit(items.map(encodeCommit));
    return { replies, now };
  };
}

/** What the server needs to come to the same: the commands, and what the decision knew besides the job. */
function encodeCommit(item: CommitItem): string {
  const { jobId, rev, commandId, link, commands, inboxRev, outbox, takesOver } = item;
  if (commands === undefined || commands.length === 0) {
    throw new PawlError('REMOTE_UNSUPPORTED', { detail: 'a commit cannot be saved without its commands' });
  }
  for (const command of commands) expectNoOperator(command);
  return JSON.stringify({
    job_id: jobId,
    rev,
    command_id: commandId,
    link,
    commands,
    inbox_rev: inboxRev,
    ...(takesOver ? { takes_over: true } : {}),
    children: outbox.flatMap(({ kind, body }) => (kind === 'child' ? childIn(body) : [])),
  });
}

/** Ends and cancels of children are the server's to send: it knows of them. A start holds what only the parent knows. */
function childIn(body: string): readonly { spec: unknown; input: unknown }[] {
  const { kind, spec, input } = JSON.parse(body) as { kind: string; spec?: unknown; input?: unknown };
  return kind === 'child.start' ? [{ spec, input }] : [];
}

function replyOf(answer: CommitReply | Refused): CommitReply | Promise<CommitReply> {
  if (!('error' in answer)) return answer;
  const refused = Promise.reject<CommitReply>(refusal(answer.error.code, answer.error.message));
  // Whoever asked hears of it when the group is answered, and until then it is no stray.
  refused.catch(() => undefined);
  return refused;
}
