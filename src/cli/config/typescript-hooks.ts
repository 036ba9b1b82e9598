import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import swc from '@swc/wasm-typescript';

/**
 * Hooks for the module loader: TypeScript without its types is JavaScript. Types are blanked out, so that lines and
 * columns stay what they were; what would need more than that, such as an enum, is refused, as Node itself does.
 */

type Next<C, R> = (what: string, context?: C) => Promise<R>;
type ResolveContext = { readonly parentURL?: string };
type Resolved = { readonly url: string };
type Loaded = {
  readonly format: string;
  readonly source: string | Uint8Array;
  readonly shortCircuit?: boolean;
};

const TYPESCRIPT = /\.m?ts$/;
const IN_PACKAGE = /\/node_modules\//;

/** TypeScript imports `./order.js` and means `./order.ts`, where only that is there. */
export async function resolve(
  specifier: string,
  context: ResolveContext,
  next: Next<ResolveContext, Resolved>,
): Promise<Resolved> {
  const isOwn = /^\.{0,2}\//.test(specifier) && TYPESCRIPT.test(context.parentURL ?? '');
  if (!isOwn || !/\.m?js$/.test(specifier)) return next(specifier, context);
  try {
    return await next(specifier, context);
  } catch (error) {
    try {
      return await next(specifier.replace(/js$/, 'ts'), context);
    } catch {
      // Neither is there: the name that was written is the one to complain about.
      throw error;
    }
  }
}

export async function load(url: string, context: object, next: Next<object, Loaded>): Promise<Loaded> {
  if (!url.startsWith('file:') || !TYPESCRIPT.test(url) || IN_PACKAGE.test(url)) return next(url, context);
  const filename = fileURLToPath(url);
  const source = await readFile(filename, 'utf8');
  try {
    const { code } = swc.transformSync(source, { mode: 'strip-only', module: true, filename });
    return { format: 'module', source: `${code}\n//# sourceURL=${url}`, shortCircuit: true };
  } catch (problem) {
    throw new SyntaxError(messageOf(filename, problem));
  }
}

function messageOf(filename: string, problem: unknown): string {
  const { message = String(problem), startLine } = problem as { message?: string; startLine?: number };
  return `${filename}${startLine === undefined ? '' : `:${startLine}`}: ${message}`;
}
