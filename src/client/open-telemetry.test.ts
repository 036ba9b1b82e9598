import * as api from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testApp } from '../testkit/index.js';
import { openTelemetry } from './open-telemetry.js';
import { task } from './task.js';

const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });

beforeAll(() => {
  api.trace.setGlobalTracerProvider(provider);
  api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  api.propagation.setGlobalPropagator(new W3CTraceContextPropagator());
});
afterAll(() => {
  api.trace.disable();
  api.context.disable();
  api.propagation.disable();
});

test('each execution is a short trace of its own, linked to where the job was started', async () => {
  const tracer = api.trace.getTracer('application');
  const ship = task({ name: 'ship', retry: { maxRetries: 1 } }, async ({ job, step }) => {
    tracer.startSpan('call the carrier').end();
    await step.sleep('pause', '1h');
    if (job.attempt === 1) throw new Error('the carrier is away');
    return 'shipped';
  });
  const { app, ended, stop } = await testApp({ tasks: [ship], tracing: openTelemetry(api) });
  const request = tracer.startSpan('POST /orders');
  const { job } = await api.context.with(api.trace.setSpan(api.context.active(), request), () =>
    app.start(ship, null),
  );
  request.end();
  expect((await ended(job)).status).toBe('succeeded');
  await stop();

  const spans = exporter.getFinishedSpans();
  const origin = request.spanContext();
  const runs = spans.filter(({ name }) => name === 'run ship');
  // Until the sleep, after it with the failure, and the retry, whose sleep is over.
  expect(runs.map(({ attributes }) => [attributes['pawl.attempt'], attributes['pawl.status']])).toEqual([
    [1, 'waiting'],
    [1, 'retrying'],
    [2, 'succeeded'],
  ]);
  expect(runs.map(({ status }) => status.code)).toEqual([
    api.SpanStatusCode.UNSET,
    api.SpanStatusCode.ERROR,
    api.SpanStatusCode.UNSET,
  ]);
  for (const run of runs) {
    expect(run.links.map(({ context }) => context.spanId)).toEqual([origin.spanId]);
    expect(run.spanContext().traceId).not.toBe(origin.traceId);
    const child = spans.find(
      ({ parentSpanContext }) => parentSpanContext?.spanId === run.spanContext().spanId,
    );
    expect(child?.name).toBe('call the carrier');
  }
  expect(new Set(runs.map((run) => run.spanContext().traceId)).size).toBe(3);
});

test('without a trace around it a job has no origin, and nothing breaks', async () => {
  const plain = task({ name: 'plain' }, async () => 1);
  const { app, ended, stop } = await testApp({ tasks: [plain], tracing: openTelemetry(api) });
  const { job } = await app.start(plain, null);
  expect((await ended(job)).status).toBe('succeeded');
  expect((await job.status()).spec.traceparent).toBeNull();
  expect(exporter.getFinishedSpans().at(-1)?.links).toEqual([]);
  await stop();
});
