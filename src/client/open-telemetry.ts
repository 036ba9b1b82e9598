import type * as Api from '@opentelemetry/api';
import type { Tracing } from '../ports/tracing.js';

/** The parts of `@opentelemetry/api` that are used: the application passes the package that it has. */
type OpenTelemetryApi = Pick<
  typeof Api,
  'context' | 'propagation' | 'trace' | 'SpanKind' | 'SpanStatusCode' | 'ROOT_CONTEXT'
>;

const FAILED: ReadonlySet<string> = new Set(['failed', 'retrying', 'lost']);

/**
 * Traces by OpenTelemetry: `pawl({ tracing: openTelemetry(api) })` with `import * as api from '@opentelemetry/api'`. Needs
 * the W3C propagator, which its SDKs set up by default.
 */
export function openTelemetry(api: OpenTelemetryApi): Tracing {
  const { context, propagation, trace, SpanKind, SpanStatusCode, ROOT_CONTEXT } = api;
  const tracer = trace.getTracer('pawl');
  return {
    origin() {
      const carrier: { traceparent?: string } = {};
      propagation.inject(context.active(), carrier);
      return carrier.traceparent ?? null;
    },
    execution({ id, task, queue, tenantId, attempt, traceparent }) {
      const started = traceparent
        ? trace.getSpanContext(propagation.extract(ROOT_CONTEXT, { traceparent }))
        : undefined;
      const span = tracer.startSpan(
        `run ${task}`,
        {
          kind: SpanKind.CONSUMER,
          root: true,
          links: started ? [{ context: started }] : [],
          attributes: {
            'messaging.system': 'pawl',
            'messaging.operation.type': 'process',
            'messaging.destination.name': queue,
            'messaging.message.id': id,
            'pawl.task': task,
            'pawl.tenant': tenantId,
            'pawl.attempt': attempt,
          },
        },
        ROOT_CONTEXT,
      );
      const active = trace.setSpan(ROOT_CONTEXT, span);
      return {
        within: (run) => context.with(active, run),
        end({ status, error }) {
          span.setAttribute('pawl.status', status);
          if (FAILED.has(status)) {
            span.setStatus({ code: SpanStatusCode.ERROR, ...(error === null ? {} : { message: error }) });
          }
          span.end();
        },
      };
    },
  };
}
