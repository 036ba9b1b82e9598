import { z } from 'zod';
import { CONTRACT_NAMES } from '../../contracts/index.js';
import { ownJob } from '../../engine/own-job.js';
import { readLog } from '../../engine/read-log.js';
import { PawlError } from '../../errors.js';
import { changesOf } from '../../kernel/index.js';
import { commitMessages } from '../commit-messages.js';
import { eventStream, type Outlet } from '../event-stream.js';
import type { FeedHub, FeedItem } from '../feed-hub.js';
import { jobId, text } from '../fields.js';
import { News } from '../news.js';
import { route, type ApiRequest } from '../route.js';

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
      const from = header('last-event-id') ?? null;
      // Read before the stream begins, so that a bad position is an error and not a stream that breaks off.
      const first = from === null ? null : await feed.read(from);
      const wanted = ({ tenantId, changes }: FeedItem): boolean =>
        tenantId === caller.tenantId &&
        changes[0]?.after.spec.task === (query.job_type ?? changes[0]?.after.spec.task);
      return eventStream(request, async (outlet) => {
        const send = (item: FeedItem) => {
          if (!wanted(item)) return;
          const { changes, position: id } = item;
          for (const message of commitMessages(changes, { vocabulary: query.contract, id }))
            outlet.send(message);
        };
        await follow(feed, { first, outlet, send });
      });
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
      await ownJob(request.engine, request.params.job_id, request.caller);
      const from = readRev(request.header('last-event-id'));
      return eventStream(request, (outlet) => followJob(request, { from, outlet }));
    },
  }),
];

type FeedPage = Awaited<ReturnType<FeedHub['read']>>;

/** First what the reader has missed, then what happens. Listening begins before reading, so that nothing falls between. */
async function follow(
  feed: FeedHub,
  { first, outlet, send }: { first: FeedPage | null; outlet: Outlet; send: (item: FeedItem) => void },
): Promise<void> {
  const news = new News<FeedItem>();
  const stop = await feed.listen(news.bring);
  try {
    const seen = new Set<string>();
    for (let page = first; page !== null && !outlet.gone.aborted;) {
      for (const item of page.items) {
        seen.add(`${item.jobId}/${item.rev}`);
        send(item);
      }
      page = page.isLast ? null : await feed.read(page.next);
    }
    while (!outlet.gone.aborted) {
      for (const item of await news.take(outlet.gone)) {
        if (!seen.delete(`${item.jobId}/${item.rev}`)) send(item);
      }
    }
  } finally {
    await stop();
  }
}

/** The log is read again whenever the feed says that the job has moved. */
async function followJob(
  {
    engine,
    feed,
    params,
    query,
  }: ApiRequest<{ job_id: string }, { contract: z.output<typeof vocabulary> }, unknown>,
  { from, outlet }: { from: number; outlet: Outlet },
): Promise<void> {
  const id = params.job_id;
  const news = new News<FeedItem>();
  const stop = await feed.listen((items) => news.bring(items.filter((item) => item.jobId === id)));
  try {
    let sent = from;
    for (;;) {
      const changes = changesOf(await readLog(engine.store, id));
      const last = changes.at(-1);
      if (last === undefined) return;
      for (let rev = sent + 1; rev <= last.rev; rev++) {
        const commit = changes.filter((change) => change.rev === rev);
        const messages = commitMessages(commit, { vocabulary: query.contract, id: `${rev}` });
        for (const message of messages) outlet.send(message);
      }
      sent = Math.max(sent, last.rev);
      if (last.after.finishedAt !== null) {
        outlet.send({ event: 'end', data: JSON.stringify({ status: last.after.status }), id: `${sent}` });
        return;
      }
      await news.take(outlet.gone);
      if (outlet.gone.aborted) return;
    }
  } finally {
    await stop();
  }
}

function readRev(lastEventId: string | undefined): number {
  if (lastEventId === undefined || lastEventId === '') return 0;
  if (/^\d{1,9}$/.test(lastEventId)) return Number(lastEventId);
  throw new PawlError('INVALID_REQUEST', {
    detail: 'Last-Event-ID is no revision of a job',
    details: { field: 'Last-Event-ID' },
  });
}
