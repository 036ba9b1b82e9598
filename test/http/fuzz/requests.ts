import fc from 'fast-check';
import type { Route } from '../../../src/http/route.js';
import { almostFitting, fitting, schemaOf } from './from-schema.js';
import { hostileBody, hostileJson, hostileText } from './hostile.js';

/** A request as it is to be sent. `@job_id:3@` in its path stands for the fourth such id that is known by then. */
export type Fuzzed = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly key: string | null;
  readonly body: string | Uint8Array | null;
  /** Sent in parts, without saying how long it is. */
  readonly chunked: boolean;
};

const KEYS = ['viewer', 'operator', 'admin', 'other', 'otherAdmin', 'pawl_bad', null];

/** Requests for a route: good ones, such with one thing wrong, and such as nobody means well with. */
export function requestsFor(route: Route): fc.Arbitrary<Fuzzed> {
  const bodySchema = route.body && schemaOf(route.body);
  const querySchema = schemaOf(route.query);
  const good = {
    method: fc.constant<string>(route.method),
    path: fc.tuple(goodPath(route), goodQuery(querySchema)).map(([path, query]) => `${path}${query}`),
    headers: goodHeaders(route),
    key: fc.constantFrom<string | null>('admin', 'admin', 'admin', 'otherAdmin'),
    body: bodySchema ? fitting(needed(route, bodySchema)).map(write) : fc.constant(null),
    chunked: fc.constant(false),
  };
  const bad = {
    method: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'),
    path: fc.tuple(badPath(route), badQuery(querySchema)).map(([path, query]) => `${path}${query}`),
    headers: badHeaders(route),
    key: fc.constantFrom(...KEYS),
    body: bodySchema
      ? fc.oneof(
          { weight: 5, arbitrary: almostFitting(bodySchema).map(write) },
          { weight: 2, arbitrary: hostileJson.map(write) },
          { weight: 1, arbitrary: hostileBody },
        )
      : hostileBody,
    chunked: fc.constant(true),
  };
  const wrong = (Object.keys(good) as (keyof typeof good)[]).map((name) => ({
    weight: name === 'body' && bodySchema ? 4 : 1,
    arbitrary: fc.record({ ...good, [name]: bad[name] }) as fc.Arbitrary<Fuzzed>,
  }));
  return fc.oneof(
    { weight: 9, arbitrary: fc.record(good) },
    { weight: 8, arbitrary: fc.oneof(...wrong) },
    { weight: 3, arbitrary: fc.record({ ...bad, method: good.method }) },
  );
}

/** What the engine needs of a schedule is not in the schema. */
function needed(route: Route, schema: ReturnType<typeof schemaOf>): ReturnType<typeof schemaOf> {
  const isSchedule = schema.properties !== undefined && 'schedule_type' in schema.properties;
  if (!isSchedule) return schema;
  const { cron, daily_at, scheduled_at, every_ms, from, time_zone, ...rest } = schema.properties;
  const kinds = {
    at: { scheduled_at },
    every: { every_ms, from },
    cron: { cron, time_zone },
    daily: { daily_at, time_zone },
  } as const;
  return {
    anyOf: Object.entries(kinds).map(([kind, fields]) => ({
      type: 'object',
      properties: {
        ...rest,
        ...fields,
        schedule_type: { enum: [kind] },
        ...(kind === 'at' && route.method === 'POST' ? { overlap: undefined, catch_up: undefined } : {}),
      } as never,
      required: [...(schema.required ?? []), 'schedule_type', Object.keys(fields)[0] ?? ''],
    })),
  };
}

/** JSON.stringify would drop what is undefined, and hide what is hostile. */
const write = (value: unknown): string => JSON.stringify(value) ?? 'undefined';

function goodPath({ path }: Route): fc.Arbitrary<string> {
  return fc.nat(5_000).map((n) => path.replaceAll(/:(\w+)/g, (_all, name: string) => `@${name}:${n}@`));
}

function badPath({ path }: Route): fc.Arbitrary<string> {
  const parts = path.split('/').map((part) =>
    part.startsWith(':')
      ? fc.oneof(
          fc.nat(5_000).map((n) => `@any:${n}@`),
          hostileText.map((text) => encodeURIComponent(text.toWellFormed()).slice(0, 2_000)),
          fc.constantFrom('%', '%zz', '%ff', '%00', '%2f', '%ED%A0%80', 'x', '%E0%A4%A'),
        )
      : fc.constant(part),
  );
  return fc.tuple(...parts).map((all) => all.join('/'));
}

function goodQuery({ properties = {} }: ReturnType<typeof schemaOf>): fc.Arbitrary<string> {
  const names = Object.keys(properties).filter((name) => name !== 'cursor');
  return fc
    .subarray(names, { maxLength: Math.min(2, names.length) })
    .chain((chosen) =>
      fc
        .tuple(
          ...chosen.map((name) =>
            fitting(properties[name] ?? {}, name).map((value) => `${name}=${enc(String(value))}`),
          ),
        )
        .map((pairs) => (pairs.length === 0 ? '' : `?${pairs.join('&')}`)),
    );
}

function badQuery(schema: ReturnType<typeof schemaOf>): fc.Arbitrary<string> {
  const names = Object.keys(schema.properties ?? {});
  const pair = fc
    .tuple(
      fc.oneof(
        { weight: 8, arbitrary: names.length > 0 ? fc.constantFrom(...names) : fc.constant('limit') },
        { weight: 1, arbitrary: hostileText },
      ),
      fc.boolean(),
      hostileText,
    )
    .chain(([name, isGood, bad]) => {
      const one = names.includes(name) ? schema.properties?.[name] : undefined;
      const value = isGood && one ? fitting(one, name).map(String) : fc.constant(bad);
      return value.map((text) => `${enc(name)}=${enc(text).slice(0, 2_000)}`);
    });
  return fc.oneof(
    { weight: 5, arbitrary: fc.constant('') },
    {
      weight: 4,
      arbitrary: fc.array(pair, { minLength: 1, maxLength: 3 }).map((pairs) => `?${pairs.join('&')}`),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom('?', '?&&', '?%', '?a=%zz', '?=x', '?cursor=@any:7@', '?limit=1&limit=2'),
    },
  );
}

const enc = (text: string): string => encodeURIComponent(text.toWellFormed());

/** Only what can be a header at all: the rest does not get past the parser of HTTP. */
const headerText = hostileText.map((text) => text.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '').slice(0, 500));

function goodHeaders({ body, method }: Route): fc.Arbitrary<Record<string, string>> {
  return fc.constantFrom('', '', '', '', 'a', 'b', 'c').map((key) => ({
    'x-internal-debug': 'true',
    ...(body === null ? {} : { 'content-type': 'application/json' }),
    ...(key === '' || method === 'GET' ? {} : { 'idempotency-key': key }),
  }));
}

function badHeaders(route: Route): fc.Arbitrary<Record<string, string>> {
  const types = fc.constantFrom(
    'text/plain',
    'application/json; charset=utf-8',
    'APPLICATION/JSON',
    'application/jsonx',
    'multipart/form-data; boundary=x',
    '',
  );
  const one = fc.oneof(
    fc.oneof(types, headerText).map((value) => ({ 'content-type': value })),
    headerText.map((value) => ({ 'idempotency-key': value })),
    fc
      .oneof(fc.constantFrom('0', '1', '99999999999999999999', '1:2', '-1'), headerText)
      .map((value) => ({ 'last-event-id': value })),
    headerText.map((value) => ({ 'x-internal-debug': value })),
    headerText.map((value) => ({ 'x-request-id': value })),
    headerText.map((value) => ({ traceparent: value })),
    headerText.map((value) => ({ authorization: value })),
    fc.constant({ 'x-large': 'x'.repeat(7_000) }),
  );
  return fc
    .tuple(goodHeaders(route), one)
    .map(([good, bad]): Record<string, string> => ({ ...good, ...bad }));
}
