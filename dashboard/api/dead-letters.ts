import { get, post, type Query } from './call.js';
import { repeatingBody, type Repeating } from './repeating.js';
import { anything, flag, list, nullable, number, object, oneOf, text, type Of } from './shape.js';

export const LETTER_STATUSES = ['open', 'requeued', 'discarded', 'all'] as const;

const action = object({ action: text, by: text, at: text, reason: nullable(text) });

const letter = object({
  dlq_id: text,
  tenant_id: text,
  job_id: text,
  job_type: text,
  error_class: text,
  error_code: text,
  payload_snapshot: anything,
  context_snapshot: object({
    attempts: list(
      object({
        attempt: number,
        started_at: text,
        ended_at: nullable(text),
        outcome: nullable(text),
        error_code: nullable(text),
      }),
    ),
    last_events: list(object({ type: text, at: text })),
  }),
  status: oneOf('open', 'requeued', 'discarded'),
  requeued_as: nullable(text),
  discard_asked: nullable(action),
  trail: list(action),
  first_failed_at: text,
  created_at: text,
  updated_at: text,
});
export type Letter = Of<typeof letter>;

const page = object({ items: list(letter), next_cursor: nullable(text) });
const requeued = object({ requeued: number, passed_over: number, dry_run: flag });
export type Requeued = Of<typeof requeued>;
const started = object({ job_id: text });

const ROOT = '/api/v1/dlq';
const pathOf = (dlqId: string): string => `${ROOT}/${encodeURIComponent(dlqId)}`;

export const listLetters = (query: Query, signal: AbortSignal): Promise<Of<typeof page>> =>
  get(ROOT, page, { query, signal });

export const readLetter = (dlqId: string, signal: AbortSignal): Promise<Letter> =>
  get(pathOf(dlqId), letter, { signal });

export const requeueLetter = (
  dlqId: string,
  { repeating, reason }: { readonly repeating: Repeating; readonly reason: string },
  once: string,
): Promise<Of<typeof started>> => {
  const body = { ...repeatingBody(repeating), reason: reason === '' ? null : reason };
  return post(`${pathOf(dlqId)}/requeue`, started, body, once);
};

export type RequeueFilter = { readonly job_type?: string; readonly error_code?: string };

/** Only counts what would be requeued. */
export const countRequeues = (filter: RequeueFilter, repeating: Repeating): Promise<Requeued> =>
  post(`${ROOT}/requeue`, requeued, { ...filter, ...repeatingBody(repeating), dry_run: true });

export const requeueAll = (filter: RequeueFilter, repeating: Repeating, once: string): Promise<Requeued> =>
  post(`${ROOT}/requeue`, requeued, { ...filter, ...repeatingBody(repeating), dry_run: false }, once);

export const askDiscard = (dlqId: string, reason: string, once: string): Promise<Letter> =>
  post(`${pathOf(dlqId)}/discard`, letter, { reason }, once);

export const approveDiscard = (dlqId: string, once: string): Promise<Letter> =>
  post(`${pathOf(dlqId)}/discard/approve`, letter, {}, once);
