import type { EffectResult, Store } from '../../ports/store.js';
import { groupCommit } from '../group-commit.js';
import type { Answer } from './channel.js';
import { fitRequests } from './fit-requests.js';

export type SendEffects = (body: string) => Promise<Answer<{ first: readonly boolean[] }>>;
type Put = Awaited<ReturnType<Store['putEffect']>>;

const MOST_IN_REQUEST = 200;

/** Sends what effects came to, as many together as have ended together. `incarnation`: whose bodies they were. */
export function remoteEffects(send: SendEffects, incarnation: () => string | null): Store['putEffect'] {
  const put = groupCommit<string, Put>(
    async (asks) => {
      const answers: Put[] = [];
      for (const group of fitRequests(asks)) {
        const { first, now } = await send(
          `{"incarnation":${JSON.stringify(incarnation())},"results":[${group.join(',')}]}`,
        );
        answers.push(...first.map((isFirst) => ({ first: isFirst, now })));
      }
      return answers;
    },
    { most: MOST_IN_REQUEST },
  );
  return async (result) => (await put([encode(result)]))[0] as Put;
}

function encode({ jobId, step, occurrence, entry, result }: EffectResult): string {
  return JSON.stringify({ job_id: jobId, step, occurrence, entry, result });
}
