import { z } from 'zod';
import { utc } from '../../contracts/index.js';
import { PawlError } from '../../errors.js';
import { queueOf, STATUSES } from '../../kernel/index.js';
import { count, utcTime } from '../fields.js';
import { ok, route } from '../route.js';

export const overviewRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/overview',
    access: 'viewer',
    summary:
      "How many of the tenant's jobs have not ended, by state; open dead letters; for how long each queue has kept somebody waiting. Counted every ten seconds at most.",
    answers: {
      200: z.strictObject({
        counted_at: utcTime,
        live: z.array(z.strictObject({ status: z.enum(STATUSES), count })),
        dead_letters_open: count,
        queues: z.array(z.strictObject({ queue: z.string(), oldest_due_at: utcTime })),
      }),
    },
    async handle({ metrics, caller: { tenantId } }) {
      const { live, letters, heads, now } = await metrics.stockOf(tenantId);
      // Nothing known is not the same as nothing there.
      if (now === 0) throw new PawlError('NOT_READY', { detail: 'the store could not be counted yet' });
      const oldest = new Map<string, number>();
      for (const { lane, dueAt } of heads) {
        // What is due later keeps nobody waiting.
        if (dueAt > now) continue;
        const queue = queueOf(lane);
        oldest.set(queue, Math.min(oldest.get(queue) ?? dueAt, dueAt));
      }
      return ok({
        counted_at: utc(now),
        live: live.map((one) => ({ status: one.status, count: one.count })),
        dead_letters_open: letters[0]?.count ?? 0,
        queues: [...oldest].map(([queue, at]) => ({ queue, oldest_due_at: utc(at) })),
      });
    },
  }),
];
