import { z } from 'zod';
import { METRICS_TYPE } from '../metrics.js';
import { expectReady } from '../readiness.js';
import { ok, route } from '../route.js';

export const systemRoutes = [
  route({
    method: 'GET',
    path: '/healthz',
    access: 'public',
    summary: 'The process is there and answers.',
    answers: { 200: z.strictObject({ status: z.literal('ok') }) },
    handle: () => Promise.resolve(ok({ status: 'ok' })),
  }),
  route({
    method: 'GET',
    path: '/readyz',
    access: 'public',
    summary:
      'Work can progress here: the store answers, and the worker of this process is able to work. 503 if not.',
    answers: { 200: z.strictObject({ status: z.literal('ready') }) },
    async handle({ engine, isWorking }) {
      await expectReady(engine, isWorking());
      return ok({ status: 'ready' });
    },
  }),
  route({
    method: 'GET',
    path: '/metrics',
    access: 'viewer',
    summary: "Metrics as Prometheus reads them: this process's, and the tenant's jobs and dead letters.",
    answers: { 200: 'text/plain' },
    async handle({ metrics, caller }) {
      const text = await metrics.text(caller.tenantId);
      return new Response(text, { headers: { 'content-type': METRICS_TYPE } });
    },
  }),
];
