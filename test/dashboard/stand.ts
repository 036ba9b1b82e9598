import { join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { build } from 'vite';
import { pawl, Pawl } from '../../src/client/pawl.js';
import type { AnyTask } from '../../src/client/task.js';
import type { WorkOptions } from '../../src/client/app.js';
import { createKey, type Role } from '../../src/engine/api-keys.js';
import { serve } from '../../src/http/serve.js';
import { ARGUMENTS, CHROMIUM, watched, type Look, type OpenPage } from '../apps/chromium.js';
import { newFolder } from '../apps/start-app.js';
import { ROOT } from '../source-files.js';

export const WITHOUT =
  CHROMIUM === null ? ' (there is no Chromium here; PAWL_TEST_CHROMIUM may name one)' : '';

/** For all tests of a file: the built app, and a browser. `open` gives each test a page with cookies of its own. */
export function setStage(name: string): { dashboard: string; open: (look?: Look) => Promise<OpenPage> } {
  let browser: Browser;
  const stage = {
    dashboard: '',
    async open({ colorScheme = 'light', width = 1_100 }: Look = {}): Promise<OpenPage> {
      const context = await browser.newContext({ colorScheme, viewport: { width, height: 800 } });
      onTestFinished(() => context.close());
      return watched(context, await context.newPage());
    },
  };
  beforeAll(async () => {
    const launched = chromium.launch({ executablePath: CHROMIUM ?? '', headless: true, args: ARGUMENTS });
    stage.dashboard = await buildDashboard(name);
    browser = await launched;
  }, 60_000);
  afterAll(() => browser?.close());
  return stage;
}

/** How often the page asks; tests move its clock on instead of waiting. */
export const POLL_MS = 5_000;

/** Builds the app as `npm run build` does, into a folder of its own: other tests build meanwhile. */
async function buildDashboard(name: string): Promise<string> {
  const outDir = join(ROOT, '.build/dashboard', name);
  await build({ configFile: join(ROOT, 'dashboard/vite.config.ts'), logLevel: 'error', build: { outDir } });
  return outDir;
}

export type Stand = {
  readonly app: Pawl;
  readonly url: string;
  readonly key: (role: Role) => Promise<string>;
  /** The server goes away; the answer brings it back, at the same address. */
  readonly cut: () => Promise<() => Promise<void>>;
};

export type StandOptions = {
  readonly dashboard: string;
  readonly tasks?: readonly AnyTask[];
  /** False: nobody works. */
  readonly work?: WorkOptions | false;
};

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** A real server with a worker on a file of SQLite, closed with the test. */
export async function openStand({ dashboard, tasks = [], work = {} }: StandOptions): Promise<Stand> {
  const app = await pawl({ store: `sqlite:${join(newFolder(), 'pawl.db')}`, tasks, log: quiet });
  if (work !== false) await app.work({ stopOnSignal: false, drain: 0, ...work });
  let serving = await serve(app, { port: 0, dashboard });
  const { url } = serving;
  onTestFinished(async () => {
    await serving.close();
    await app.close();
  });
  return {
    app,
    url: `${url}/dashboard/`,
    async key(role) {
      const { engine } = Pawl.inside(app);
      const made = { tenantId: 'default', role, name: role, by: 'operator:test' };
      return (await createKey(engine, made)).token;
    },
    async cut() {
      await serving.close();
      return async () => {
        serving = await serve(app, { port: Number(new URL(url).port), dashboard });
      };
    },
  };
}

/** Confirms what a dialog asks, and waits for the answer of the server. */
export async function confirm(page: Page, button: string, answer: string | RegExp): Promise<void> {
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: button, exact: true }).click();
  await dialog.getByText(answer).waitFor();
}

export async function closeDialog(page: Page): Promise<void> {
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}

/** Errors of the page itself: that a request was refused is shown by the browser too, and often what a test is about. */
export function ownErrors(errors: readonly string[]): string[] {
  return errors.filter((error) => !/the server responded with a status of (4\d\d|503)/.test(error));
}
