import { existsSync } from 'node:fs';
import { chromium, type BrowserContext, type Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { newFolder } from './start-app.js';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** A browser of this machine; null where there is none. `PAWL_TEST_CHROMIUM` names another. */
export const CHROMIUM =
  [process.env['PAWL_TEST_CHROMIUM'] ?? '', ...PLACES].find((path) => existsSync(path)) ?? null;

export const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

export type Look = { readonly colorScheme?: 'light' | 'dark'; readonly width?: number };

/** `errors`: what the page threw, or its policy has refused. */
export type OpenPage = { context: BrowserContext; page: Page; errors: string[] };

/** A new browser with one page, closed with the test. */
export async function openBrowser({ colorScheme = 'light', width = 1_100 }: Look = {}): Promise<OpenPage> {
  const context = await chromium.launchPersistentContext(newFolder(), {
    executablePath: CHROMIUM ?? '',
    headless: true,
    args: ARGUMENTS,
    colorScheme,
    viewport: { width, height: 800 },
  });
  onTestFinished(() => context.close());
  return watched(context, context.pages()[0] ?? (await context.newPage()));
}

/** A page, and what goes wrong in it. */
export function watched(context: BrowserContext, page: Page): OpenPage {
  page.setDefaultTimeout(20_000);
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    // That the server is away for a while is what the tests are about.
    if (message.type() === 'error' && !/net::ERR_/.test(message.text())) errors.push(message.text());
  });
  return { context, page, errors };
}
