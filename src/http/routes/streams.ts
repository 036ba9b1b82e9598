import { z } from 'zod';
import { CONTRACT_NAMES } from '../../contracts/index.js';
import { ownJob } from '../../engine/own-job.js';
import { PawlError } from '../../errors.js';
import { eventStream } from '../event-stream.js';
import type { FeedItem, FeedPage, FeedReader } from '../feed-reader.js';
import { jobId, text } from '../fields.js';
import { followFeed } from '../follow-feed.js';
import { followJob } from '../follow-job.js';
import { route } from '../route.js';

const vocabulary = z
  .enum([...CONTRACT_NAMES, 'engine'])
  .optional()
  .default('engine');
const SUMMARY = 'resumes behind the `Last-Event-ID` that is sent';

export const streamRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/events',
    access: 'viewer',
    summary: `Everything that happens to the tenant's jobs from now on, as server-sent events; ${SUMMARY}.`,
    query: z.strictObject({ contract: vocabulary, job_type: text(200).optional() }),
    answers: { 200: 'text/event-stream' },
    async handle(request) {
      const { feed, header, caller, query } = request;
      const from = header('last-event-id') || (await feed.end());
      const reader = feed.reader();
      const first = await readFrom(reader, from);
      const wanted = ({ tenantId, changes }: FeedItem): boolean =>
        tenantId === caller.tenantId &&
        (query.job_type === undefined || changes[0]?.after.spec.task === query.job_type);
      const following = { reader, first, from, wanted, vocabulary: query.contract };
      return eventStream(request, (outlet) => followFeed(feed, following, outlet));
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/jobs/:job_id/stream',
    access: 'viewer',
    summary: `The whole life of a job as server-sent events, until it ends; ${SUMMARY}.`,
    params: z.strictObject({ job_id: jobId }),
    query: z.strictObject({ contract: vocabulary }),
    answers: { 200: 'text/event-stream' },
    async handle(request) {
      const { engine, caller, params, query, header } = request;
      await ownJob(engine, params.job_id, caller);
      const from = readRev(header('last-event-id') ?? '');
      const following = { jobId: params.job_id, from, vocabulary: query.contract };
      return eventStream(request, (outlet) => followJob(request, following, outlet));
    },
  }),
];

async function readFrom(reader: FeedReader, from: string): Promise<FeedPage> {
  try {
    return await reader.read(from);
  } catch (error) {
    if (error instanceof PawlError && error.code === 'INVALID_OPTION') throw badPosition('of this feed');
    throw error;
  }
}

function readRev(lastEventId: string): number {
  if (/^\d{0,9}$/.test(lastEventId)) return Number(lastEventId);
  throw badPosition('of a job');
}

function badPosition(whose: string): PawlError {
  return new PawlError('INVALID_REQUEST', {
    detail: `Last-Event-ID is no position ${whose}`,
    details: { field: 'Last-Event-ID' },
  });
}
