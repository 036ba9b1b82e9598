import { readdir, readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { extname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where the dashboard is served. Below it, what is no file of it is one of its views. */
export const DASHBOARD_PATH = '/dashboard/';
/** Beside this folder once both are built. */
const BUILT = fileURLToPath(new URL('../dashboard', import.meta.url));
/** Files here are named after their content. */
const NAMED_BY_CONTENT = `${DASHBOARD_PATH}assets/`;

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Its own files and this server are all that a page may load, send to, or be shown in. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

type Page = { readonly content: Buffer; readonly headers: Readonly<Record<string, string>> };

/** The files of the browser app. All are read at the start, so no address can lead out of their folder. */
export class Dashboard {
  readonly #pages: ReadonlyMap<string, Page>;
  readonly #index: Page;

  private constructor(pages: ReadonlyMap<string, Page>, index: Page) {
    this.#pages = pages;
    this.#index = index;
  }

  /** Null: it has not been built there. */
  static async read(folder: string = BUILT): Promise<Dashboard | null> {
    const pages = new Map<string, Page>();
    for (const name of await namesIn(folder)) {
      const type = TYPES[extname(name)];
      if (type === undefined) continue;
      const path = DASHBOARD_PATH + name.split(sep).join('/');
      const lasting = path.startsWith(NAMED_BY_CONTENT) ? 'public, max-age=31536000, immutable' : 'no-cache';
      pages.set(path, {
        content: await readFile(join(folder, name)),
        headers: { ...HEADERS, 'content-type': type, 'cache-control': lasting },
      });
    }
    const index = pages.get(`${DASHBOARD_PATH}index.html`);
    return index ? new Dashboard(pages, index) : null;
  }

  /** Null: the request is for something else. */
  answer({ method, url = '' }: Pick<IncomingMessage, 'method' | 'url'>): Response | null {
    if (method !== 'GET' && method !== 'HEAD') return null;
    const path = url.split(/[?#]/, 1)[0] ?? '';
    if (path === '/' || `${path}/` === DASHBOARD_PATH) {
      return new Response(null, { status: 302, headers: { location: DASHBOARD_PATH } });
    }
    if (!path.startsWith(DASHBOARD_PATH)) return null;
    const page = this.#pages.get(path) ?? (path.startsWith(NAMED_BY_CONTENT) ? null : this.#index);
    if (page === null) return null;
    return new Response(method === 'HEAD' ? null : new Uint8Array(page.content), { headers: page.headers });
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
