import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, onTestFinished, test } from 'vitest';
import { JOB_STATUSES, jobs } from '../../src/contracts/index.js';
import { openApi } from '../../src/http/open-api.js';
import { ROUTES } from '../../src/http/route-table.js';
import { ApiRig } from './api-rig.js';

type Operation = {
  readonly operationId: string;
  readonly security: readonly object[];
  readonly parameters: readonly { name: string; in: string; required: boolean }[];
  readonly requestBody?: { readonly required: boolean };
  readonly responses: Readonly<Record<string, unknown>>;
};
type Document = {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: unknown;
};

async function documentOf(): Promise<Document> {
  const rig = await ApiRig.start();
  onTestFinished(() => rig.stop());
  const response = await rig.fetch('GET', '/openapi.json', { key: null });
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  return (await response.json()) as Document;
}

const pathOf = (path: string): string => path.replaceAll(/:(\w+)/g, '{$1}');

describe('JOB-13 /openapi.json', () => {
  test('is a valid OpenAPI 3.1 document', async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(structuredClone(await documentOf()));
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
    expect(validator.version).toBe('3.1');
  });

  test('the validator notices what is wrong', async () => {
    const broken = { ...openApi(ROUTES, { version: '1' }), paths: { '/x': { get: { responses: [] } } } };
    expect((await new Validator().validate(broken)).valid).toBe(false);
  });

  test('has every route, who may call it, what it takes and what it answers', async () => {
    const { paths } = await documentOf();
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
    expect(operations).toHaveLength(ROUTES.length);
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(ROUTES.length);
    for (const { method, path, access, body, answers } of ROUTES) {
      const operation = paths[pathOf(path)]?.[method.toLowerCase()];
      expect(operation, path).toBeDefined();
      expect(operation?.security).toEqual(access === 'public' ? [] : [{ key: [] }]);
      expect(operation?.requestBody !== undefined).toBe(body !== null);
      expect(Object.keys(operation?.responses ?? {}).toSorted()).toEqual([
        ...Object.keys(answers),
        'default',
      ]);
      const named = operation?.parameters.filter((one) => one.in === 'path') ?? [];
      expect(named.map(({ name }) => name)).toEqual([...path.matchAll(/:(\w+)/g)].map((match) => match[1]));
      expect(named.every(({ required }) => required)).toBe(true);
    }
  });

  test('a body is required where one of its fields is', async () => {
    const { paths } = await documentOf();
    const isRequired = (path: string) => paths[path]?.['post']?.requestBody?.required;
    expect(isRequired('/api/v1/jobs')).toBe(true);
    expect(isRequired('/api/v1/keys')).toBe(true);
    expect(isRequired('/api/v1/jobs/{job_id}/cancel')).toBe(false);
    expect(isRequired('/api/v1/dlq/{dlq_id}/requeue')).toBe(false);
  });

  test('JOB-2 its states are those of the machine', async () => {
    const { paths } = await documentOf();
    const listed = paths['/api/v1/jobs']?.['get']?.parameters.find(({ name }) => name === 'status');
    expect(listed).toMatchObject({ schema: { enum: [...JOB_STATUSES] } });
    expect([...JOB_STATUSES].toSorted()).toEqual([...jobs.machine.states].toSorted());
    const answer = JSON.stringify(paths['/api/v1/jobs/{job_id}']?.['get']?.responses);
    expect(answer).toContain(JSON.stringify({ type: 'string', enum: [...JOB_STATUSES] }).slice(1, -1));
  });
});
