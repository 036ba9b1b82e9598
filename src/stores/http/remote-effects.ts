import type { EffectResult, Store } from '../../ports/store.js';
import { groupCommit } from '../group-commit.js';
import type { Answer } from './channel.js';
import { fitRequests } from './fit-requests.js';

export type SendEffects = (body: string) => Promise<Answer<{ first: readonly boolean[] }>>;
type Put = Awaited<ReturnType<Store['putEffect']>>;

const MOST_IN_REQUEST = 200;

/** Sends what effects came to, as many together as have ended together. */
export function remoteEffects(send: SendEffects): Store['putEffect'] {
  const put = groupCommit<string, Put>(
    async (asks) => {
      const answers: Put[] = [];
      for (const group of fitRequests(asks)) {
        const { first, now } = await send(`{"results":[${group.join(',')}]}`);
        answers.push(...first.map((isFirst) => ({ first: isFirst, now })));
      }
      return answers;
    },
    { most: MOST_IN_REQUEST },
  );
  return async (result, awaitedBy = null) => (await put([encode(result, awaitedBy)]))[0] as Put;
}

/** The server looks whether a result comes too late, unless it finds the job with the attempt that waits for it. */
function encode({ jobId, step, occurrence, entry, result }: EffectResult, awaitedBy: string | null): string {
  return JSON.stringify({ job_id: jobId, step, occurrence, entry, result, awaited_by: awaitedBy });
}
