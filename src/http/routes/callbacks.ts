import { z } from 'zod';
import { utc } from '../../contracts/index.js';
import { deadCallbacks, redriveCallbacks } from '../../engine/callbacks/dead.js';
import {
  CALLBACK_EVENTS,
  listSubscriptions,
  type CallbackBody,
  type Subscription,
} from '../../engine/callbacks/subscription-cache.js';
import { subscribe, unsubscribe } from '../../engine/callbacks/subscription.js';
import { defined } from '../../engine/defined.js';
import { page, text, utcTime } from '../fields.js';
import { created, ok, route } from '../route.js';
import { contractName } from '../views.js';

const ROOT = '/api/v1/callbacks';

const subscriptionView = z.strictObject({
  subscription_id: z.string(),
  url: z.string(),
  contract: contractName,
  events: z.array(z.enum(CALLBACK_EVENTS)),
  job_types: z.array(z.string()).nullable(),
  created_at: utcTime,
});

export const callbackRoutes = [
  route({
    method: 'GET',
    path: ROOT,
    access: 'viewer',
    summary: "The tenant's subscriptions, without their secrets.",
    answers: { 200: z.strictObject({ subscriptions: z.array(subscriptionView) }) },
    async handle({ engine, caller }) {
      const found = await listSubscriptions(engine.store, caller.tenantId);
      return ok({ subscriptions: found.map(viewOf) });
    },
  }),
  route({
    method: 'POST',
    path: ROOT,
    access: 'operator',
    summary:
      'Be called at a URL when jobs change. The secret that signs the calls is in this answer only; a repeated request gets null for it.',
    body: z.strictObject({
      url: text(2_000),
      contract: contractName.optional().default('run-state'),
      events: z.array(z.enum(CALLBACK_EVENTS)).min(1).optional().default(['status']),
      job_types: z.array(text(200)).min(1).max(100).optional(),
    }),
    answers: { 201: subscriptionView.extend({ secret: z.string().nullable() }) },
    once: 'secret',
    async handle({ engine, caller: { tenantId }, body, newId }) {
      const { url, contract, events, job_types: tasks } = body;
      const asked = { tenantId, url, contract, events, ...defined({ tasks }) };
      const made = await subscribe(engine, { ...asked, id: newId(0) });
      return created({ ...viewOf(made), secret: made.secret });
    },
  }),
  route({
    method: 'DELETE',
    path: `${ROOT}/:subscription_id`,
    access: 'operator',
    summary: 'Be called no more.',
    params: z.strictObject({ subscription_id: text(200) }),
    answers: { 200: z.strictObject({ deleted: z.literal(true) }) },
    async handle({ engine, caller: { tenantId }, params }) {
      await unsubscribe(engine, { tenantId, id: params.subscription_id });
      return ok({ deleted: true });
    },
  }),
  route({
    method: 'GET',
    path: `${ROOT}/dead`,
    access: 'viewer',
    summary: 'Calls that were given up.',
    query: z.strictObject(page),
    answers: {
      200: z.strictObject({
        entries: z.array(
          z.strictObject({
            entry_id: z.string(),
            subscription_id: z.string(),
            job_id: z.string().nullable(),
            tries: z.int(),
            since: utcTime,
          }),
        ),
        next_cursor: z.string().nullable(),
      }),
    },
    async handle({ engine, caller: { tenantId }, query: { limit, cursor } }) {
      const found = await deadCallbacks(engine, { tenantId, after: cursor ?? null, limit });
      return ok({
        entries: found.map(({ entryId, jobId, tries, body }) => {
          const { subscriptionId, at } = JSON.parse(body) as CallbackBody;
          return { entry_id: entryId, subscription_id: subscriptionId, job_id: jobId, tries, since: utc(at) };
        }),
        next_cursor: found.length === limit ? (found.at(-1)?.entryId ?? null) : null,
      });
    },
  }),
  route({
    method: 'POST',
    path: `${ROOT}/dead/redrive`,
    access: 'operator',
    summary: 'Make calls again that were given up.',
    body: z.strictObject({ entry_ids: z.array(text(400)).min(1).max(1_000) }),
    answers: { 200: z.strictObject({ redriven: z.int() }) },
    async handle({ engine, caller, body }) {
      return ok({ redriven: await redriveCallbacks(engine, body.entry_ids, caller) });
    },
  }),
];

function viewOf({
  id,
  url,
  contract,
  events,
  tasks,
  createdAt,
}: Subscription): z.output<typeof subscriptionView> {
  return {
    subscription_id: id,
    url,
    contract,
    events: [...events],
    job_types: tasks && [...tasks],
    created_at: utc(createdAt),
  };
}
