import { z } from 'zod';
import { DEFAULT_TENANT } from '../engine/new-job.js';
import { isKeyed, type Route } from './route.js';

type Json = Readonly<Record<string, unknown>>;

const META = {
  type: 'object',
  required: ['trace_id', 'request_id'],
  properties: { trace_id: { type: 'string' }, request_id: { type: 'string' } },
};

const ERROR = {
  type: 'object',
  required: ['success', 'error', 'meta'],
  properties: {
    success: { const: false },
    error: {
      type: 'object',
      required: ['code', 'message', 'retryable', 'class'],
      properties: {
        code: { type: 'string' },
        message: { type: 'string' },
        retryable: { type: 'boolean' },
        class: { enum: ['validation', 'business_rule', 'transient', 'permanent', 'security_sensitive'] },
      },
    },
    meta: { $ref: '#/components/schemas/Meta' },
  },
};

/** The API as a document: what the route table says, and nothing else. */
export function openApi(routes: readonly Route[], { version }: { readonly version: string }): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Pawl',
      version,
      description: 'Durable jobs: start them, watch them, and look after them.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    paths,
    components: {
      schemas: { Meta: META, Error: ERROR },
      securitySchemes: { key: { type: 'http', scheme: 'bearer', description: 'pawl_<id>_<secret>' } },
    },
  };
}

const TAKES: Readonly<Record<Route['access'], string>> = {
  public: 'Takes no key.',
  viewer: 'Takes a key with the role viewer.',
  operator: 'Takes a key with the role operator.',
  admin: 'Takes a key with the role admin.',
  owner: `Takes a key with the role admin of the tenant '${DEFAULT_TENANT}'.`,
};

function operation(route: Route): Json {
  const { method, path, summary, access, body } = route;
  return {
    operationId: `${method.toLowerCase()}${path.replaceAll(/[^A-Za-z0-9]+/g, '_')}`,
    summary,
    description: TAKES[access],
    tags: [route.contract],
    security: access === 'public' ? [] : [{ key: [] }],
    parameters: [
      ...parametersOf(route.params, 'path'),
      ...parametersOf(route.query, 'query'),
      ...(isKeyed(route) ? [IDEMPOTENCY_KEY] : []),
    ],
    ...(body && {
      requestBody: {
        required: !body.safeParse({}).success,
        content: { 'application/json': { schema: schemaOf(body, 'input') } },
      },
    }),
    responses: {
      ...Object.fromEntries(
        Object.entries(route.answers).map(([status, answer]) => [status, responseOf(answer)]),
      ),
      default: {
        description: 'What went wrong, with a stable code and what to do about it.',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    },
  };
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'The same key with the same request gets the first answer again, for 24 hours.',
  schema: { type: 'string', maxLength: 255 },
};

function parametersOf(schema: z.ZodType, where: 'path' | 'query'): Json[] {
  const { properties = {}, required = [] } = schemaOf(schema, 'input') as {
    properties?: Record<string, Json>;
    required?: readonly string[];
  };
  return Object.entries(properties).map(([name, one]) => ({
    name,
    in: where,
    required: where === 'path' || required.includes(name),
    schema: one,
  }));
}

function responseOf(answer: z.ZodType | string): Json {
  if (typeof answer === 'string') {
    return { description: 'Done.', content: { [answer]: { schema: { type: 'string' } } } };
  }
  const schema = {
    type: 'object',
    required: ['success', 'data', 'message', 'meta'],
    properties: {
      success: { const: true },
      data: schemaOf(answer, 'output'),
      message: { const: 'ok' },
      meta: { $ref: '#/components/schemas/Meta' },
    },
  };
  return { description: 'Done.', content: { 'application/json': { schema } } };
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
}
