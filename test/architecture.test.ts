import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { filesUnder, read } from './source-files.js';

/**
 * Who may import whom. A layer is a folder of `src`, or a file of its own; whatever is not listed is forbidden, and
 * so is every package that is not listed under PACKAGES.
 */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  kernel: [],
  'error-registry': ['kernel'],
  'errors.ts': ['kernel', 'error-registry'],
  contracts: ['kernel', 'errors.ts', 'error-registry'],
  ports: ['kernel', 'contracts', 'errors.ts'],
  stores: ['kernel', 'contracts', 'ports', 'errors.ts'],
  tracker: ['kernel', 'contracts', 'ports', 'errors.ts'],
  engine: ['kernel', 'contracts', 'ports', 'errors.ts'],
  worker: ['kernel', 'ports', 'engine', 'errors.ts'],
  client: ['kernel', 'contracts', 'ports', 'engine', 'worker', 'stores', 'tracker', 'errors.ts'],
  testkit: ['kernel', 'ports', 'contracts', 'engine', 'worker', 'client', 'stores', 'errors.ts'],
  sim: ['kernel', 'contracts', 'ports', 'engine', 'worker', 'client', 'stores', 'testkit', 'errors.ts'],
  matrix: ['kernel', 'contracts', 'ports', 'engine', 'worker', 'client', 'stores', 'sim', 'errors.ts'],
  http: ['kernel', 'contracts', 'ports', 'engine', 'worker', 'client', 'errors.ts'],
  'index.ts': ['client', 'contracts', 'engine', 'http', 'errors.ts', 'ports', 'tracker', 'worker'],
  // Whatever anybody could write who has the package.
  runner: ['index.ts'],
  cli: [
    'kernel',
    'contracts',
    'http',
    'ports',
    'engine',
    'worker',
    'stores',
    'client',
    'testkit',
    'tracker',
    'runner',
    'matrix',
    'errors.ts',
  ],
};

const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  stores: [
    '@photostructure/sqlite',
    'node:fs',
    'node:fs/promises',
    'node:http',
    'node:https',
    'node:net',
    'node:os',
    'node:path',
    'pg',
    'node:worker_threads',
  ],
  engine: ['croner', 'node:crypto'],
  runner: ['node:child_process', 'node:fs/promises', 'node:path', 'node:string_decoder', 'yaml'],
  testkit: ['node:assert/strict'],
  http: [
    '@hono/node-server',
    'hono',
    'node:events',
    'node:fs/promises',
    'node:http',
    'node:net',
    'node:path',
    'node:perf_hooks',
    'node:url',
    'zod',
  ],
  client: [
    '@opentelemetry/api',
    'node:dns/promises',
    'node:fs',
    'node:fs/promises',
    'node:http',
    'node:https',
    'node:net',
    'node:path',
  ],
  sim: ['node:child_process', 'node:fs', 'node:os', 'node:path', 'node:url', 'node:util'],
  matrix: [
    'node:child_process',
    'node:events',
    'node:fs',
    'node:net',
    'node:os',
    'node:path',
    'node:url',
    'node:util',
  ],
  cli: [
    '@swc/wasm-typescript',
    'commander',
    'node:child_process',
    'node:events',
    'node:fs',
    'node:fs/promises',
    'node:http',
    'node:module',
    'node:path',
    'node:stream/consumers',
    'node:url',
    'node:v8',
    'zod',
  ],
};

const sources = filesUnder('src').filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'));
const isCode = (path: string): boolean => /\.(m?[jt]s|tsx)$/.test(path);
const layerOf = (path: string): string => path.split('/')[1] ?? '';

function importsOf(path: string): string[] {
  return [...read(path).matchAll(/^(?:import|export)\b[^'"]*?from '([^']+)'/gm)].map(
    (match) => match[1] ?? '',
  );
}

describe('imports point one way', () => {
  test('every layer has its row', () => {
    expect(sources.map(layerOf).filter((layer) => !(layer in LAYERS))).toEqual([]);
  });

  test.each(sources)('%s', (path) => {
    const layer = layerOf(path);
    for (const specifier of importsOf(path)) {
      if (specifier.startsWith('.')) {
        const target = layerOf(join(dirname(path), specifier).replace(/\.js$/, '.ts'));
        expect([layer, ...(LAYERS[layer] ?? [])], `${path} imports ${specifier}`).toContain(target);
      } else {
        expect(PACKAGES[layer] ?? [], `${path} imports ${specifier}`).toContain(specifier);
      }
    }
  });

  test('a store never imports another', () => {
    const stores = ['memory', 'file', 'sqlite', 'postgres', 'http'];
    for (const path of sources.filter((source) => source.startsWith('src/stores/'))) {
      const own = path.split('/')[2] ?? '';
      const others = stores.filter((store) => store !== own);
      for (const specifier of importsOf(path)) {
        const target = join(dirname(path), specifier).split('/')[2] ?? '';
        expect(others, `${path} imports ${specifier}`).not.toContain(target);
      }
    }
  });

  test('the reader of imports reads them', () => {
    expect(importsOf('src/testkit/given.ts')).toEqual(['node:assert/strict', '../kernel/index.js']);
  });
});

describe('the dashboard', () => {
  const files = filesUnder('dashboard').filter((path) => /\.tsx?$/.test(path));
  const own = files.filter((path) => !/\.test\.ts$|vite\.config\.ts$/.test(path));

  test.each(own)('%s imports only its own files, and Preact', (path) => {
    for (const specifier of importsOf(path)) {
      if (!specifier.startsWith('.')) expect(specifier).toMatch(/^preact(\/hooks)?$/);
      else expect(join(dirname(path), specifier), path).toMatch(/^dashboard\//);
    }
    expect(read(path), path).not.toMatch(/\bimport\(|^import '/m);
  });

  test('is imported by nobody', () => {
    const others = ['src', 'test', 'bench', 'examples', 'scripts'].flatMap(filesUnder).filter(isCode);
    const importers = others.filter((path) =>
      importsOf(path).some((one) => one.startsWith('.') && join(dirname(path), one).startsWith('dashboard/')),
    );
    expect(importers).toEqual([]);
  });

  test('asks for nothing but the API, and whether it is ready', () => {
    const asked = own.flatMap((path) => [...read(path).matchAll(/'(\/(?!dashboard)[a-z][^']*)'/g)]);
    expect(asked.length).toBeGreaterThan(8);
    for (const [, path = ''] of asked) expect(path).toMatch(/^(\/api\/v1\/|\/readyz$)/);
  });

  test('makes no HTML out of data', () => {
    for (const path of filesUnder('dashboard')) {
      expect(read(path), path).not.toMatch(
        /dangerouslySetInnerHTML|(inner|outer)HTML|insertAdjacentHTML|document\.write|\beval\(|new Function/,
      );
    }
  });

  test('has nothing inline in its page, which the policy of the server would refuse', () => {
    const page = read('dashboard/index.html');
    expect(page).not.toMatch(/<style|style=|\son\w+=|<script(?![^>]*src=)/);
  });
});

describe('the example applications', () => {
  const files = ['examples/agent-server', 'examples/web-ui']
    .flatMap(filesUnder)
    .filter((path) => path.endsWith('.ts'));

  test.each(files)('%s uses only what the package exports', (path) => {
    const { exports } = JSON.parse(read('package.json')) as { exports: Record<string, string> };
    const open = Object.values(exports).map((file) => file.replace('./dist/', 'src/'));
    for (const specifier of importsOf(path).filter((one) => !one.startsWith('node:'))) {
      const target = join(dirname(path), specifier);
      expect([...open, join(dirname(path), target.split('/').at(-1) ?? '')], path).toContain(target);
    }
  });
});

describe('house rules', () => {
  const written = ['src', 'test', 'bench', 'examples', 'scripts', 'dashboard']
    .flatMap(filesUnder)
    .filter((path) => isCode(path) || path.endsWith('.css'));

  test('no file is longer than 300 lines', () => {
    const long = written
      .map((path) => [path, read(path).split('\n').length - 1] as const)
      .filter(([, lines]) => lines > 300);
    expect(long).toEqual([]);
  });

  test('names are kebab-case and say what is inside', () => {
    const vague = /(^|[-/.])(utils?|helpers?|types?|common|misc|shared)([-/.]|$)/;
    for (const path of written) {
      const name = path.split('/').at(-1) ?? '';
      expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z]+)*\.(m?[jt]s|tsx|css)$/);
      expect(name).not.toMatch(vague);
    }
  });

  test('what the package exports exists', () => {
    const { exports } = JSON.parse(read('package.json')) as { exports: Record<string, string> };
    for (const target of Object.values(exports)) {
      expect(sources).toContain(target.replace('./dist/', 'src/').replace(/\.js$/, '.ts'));
    }
  });
});
