import fc from 'fast-check';

/** Texts that have broken servers before. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '\u0000',
    'a\u0000b',
    '\ud800',
    'x\udfff',
    '\u0007\u001b[31m',
    '\r\nset-cookie: x=1',
    '__proto__',
    'constructor',
    'toString',
    '../../../etc/passwd',
    '%00',
    '%zz',
    "'; DROP TABLE jobs; --",
    '" OR 1=1',
    '${7*7}',
    '<script>alert(1)</script>',
    '\u202e\u2066',
    'ﷺ'.repeat(200),
    'NaN',
    '-0',
    '1e309',
    '9'.repeat(400),
    'x'.repeat(10_000),
    '2026-02-30T25:61:61Z',
    '+275760-09-13T00:00:00.001Z',
    '0000-00-00T00:00:00Z',
    '* * * * * * *',
    '@reboot',
    'Europe/Nowhere',
  ),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({
    unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
    maxLength: 20,
  }),
);

const hostileNumber = fc.constantFrom(
  -1,
  0,
  1.5,
  -0,
  2 ** 31,
  2 ** 53,
  1e21,
  1e308,
  -1e308,
  5e-324,
  4_294_967_296,
);

/** Any JSON, with names that mean something to JavaScript. */
export const hostileJson: fc.Arbitrary<unknown> = fc.oneof(
  { depthSize: 'small' },
  hostileText,
  hostileNumber,
  fc.constantFrom(null, true, false, {}, [], [[]], [null]),
  fc.integer({ min: 60, max: 90 }).map(nested),
  fc.dictionary(
    fc.oneof(hostileText, fc.constantFrom('job_type', 'then', 'toJSON', 'length')),
    fc.jsonValue({ maxDepth: 3 }),
    { maxKeys: 4 },
  ),
  fc.jsonValue({ maxDepth: 4 }),
);

/** Bodies that are no JSON, or JSON that `JSON.stringify` would never write. */
export const hostileBody: fc.Arbitrary<string | Uint8Array> = fc.oneof(
  fc.constantFrom(
    '{"__proto__":{"a":1}}',
    '{"job_type":"w","payload":{"\\u005f\\u005fproto\\u005f\\u005f":1}}',
    '{"job_type":"w","job_type":"x"}',
    '{"job_type":"w","priority":1e999}',
    '{"job_type":"w","priority":-}',
    '{"job_type":"\\ud83d"}',
    '\ufeff{"job_type":"w"}',
    '{"job_type":"w",}',
    "{'job_type':'w'}",
    '{"job_type":NaN}',
    `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`,
    '['.repeat(100_000),
    `"${'\\'.repeat(9_999)}`,
    `{"job_type":"w","payload":"${'x'.repeat(1_100_000)}"}`,
  ),
  fc.uint8Array({ maxLength: 200 }),
  fc.string({ unit: 'binary', maxLength: 100 }),
);

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}
