import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, test, vi } from 'vitest';
import { runSnapshot } from '../../src/http/views.js';
import { CHROMIUM, openBrowser } from './chromium.js';
import { newFolder, shownByCli, startApp, type RunningApp } from './start-app.js';

const WITHOUT = CHROMIUM === null ? ' (there is no Chromium here; PAWL_TEST_CHROMIUM may name one)' : '';

function newServer() {
  const folder = newFolder();
  const store = `sqlite:${join(folder, 'web-ui.db')}`;
  const start = (more = {}): Promise<RunningApp> =>
    startApp('web-ui', { WEB_PORT: '0', WEB_STORE: store, WEB_TICK_MS: '20', ...more });
  return { store, start };
}

const post = (url: string, body: unknown = {}, headers = {}): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

const runOf = async (url: string, runId: string) =>
  runSnapshot.parse(await (await fetch(`${url}/runs/${runId}`)).json());

/** Events of a stream until it ends. */
async function eventsOf(response: Response): Promise<{ id: string; run: unknown }[]> {
  const blocks = (await response.text()).split('\n\n').filter((block) => block.includes('event: run'));
  return blocks.map((block) => {
    const [, id = ''] = /^id: (\d+)$/m.exec(block) ?? [];
    const [, data = ''] = /^data: (.*)$/m.exec(block) ?? [];
    return { id, run: JSON.parse(data) as unknown };
  });
}

async function startRun(page: Page, name: string): Promise<string> {
  await page.getByLabel('What is released').fill(name);
  await page.keyboard.press('Enter');
  await page.waitForURL(/\?run=/);
  return new URL(page.url()).searchParams.get('run') ?? '';
}

const status = (page: Page, word: string): Promise<void> =>
  page.locator(`#run-status[data-status='${word}']`).waitFor();
const step = (page: Page, name: string, word: string): Promise<void> =>
  page.locator(`#steps > li[data-key='${name}'] > .line [data-status='${word}']`).waitFor();

describe('examples/web-ui without a browser', () => {
  test('RST-10 a run is answered and streamed in the shape of the API and the CLI, from where the reader was', async () => {
    const { store, start } = newServer();
    const { url, stop } = await start();
    const created = await post(`${url}/runs`, { name: 'shop 1.4' });
    const { run_id: runId } = runSnapshot.parse(await created.json());
    const stream = eventsOf(await fetch(`${url}/runs/${runId}/events`));
    // Kept for the job if it comes before the job waits for it.
    expect((await post(`${url}/runs/${runId}/approve`)).status).toBe(200);
    const events = await stream;
    const run = await runOf(url, runId);
    expect(run).toMatchObject({ workflow_name: 'release shop 1.4', status: 'success' });
    expect(run.steps.map(({ name, status: of }) => [name, of])).toEqual([
      ['build', 'success'],
      ['test', 'success'],
      ['approval', 'success'],
      ['publish', 'success'],
    ]);
    expect(events.at(-1)).toEqual({ id: String(run.version), run });
    const versions = events.map(({ id }) => Number(id));
    expect(versions).toEqual([...new Set(versions)].toSorted((a, b) => a - b));
    expect(shownByCli({ store, runId })).toEqual(run);

    const again = { headers: { 'last-event-id': String(run.version) } };
    expect(await eventsOf(await fetch(`${url}/runs/${runId}/events`, again))).toEqual([]);
    expect((await fetch(`${url}/runs/run_unknown/events`)).status).toBe(404);
    expect(await stop()).toBe(0);
  });

  test.each([
    ['resume', 'success', null],
    ['interrupt', 'interrupted', 'the server was restarted'],
  ])(
    'RST-14 killed in the middle of a run, and told to %s: it ends as %s',
    async (afterRestart, end, reason) => {
      const { start } = newServer();
      const first = await start({ WEB_TICK_MS: '60000' });
      const { run_id: runId } = runSnapshot.parse(
        await (await post(`${first.url}/runs`, { name: 'shop 1.4' })).json(),
      );
      await vi.waitUntil(async () => (await runOf(first.url, runId)).steps[0]?.status === 'running', {
        timeout: 200_000,
      });
      await first.kill();

      const { url } = await start({ WEB_AFTER_RESTART: afterRestart });
      if (afterRestart === 'resume') await post(`${url}/runs/${runId}/approve`);
      const [last] = (await eventsOf(await fetch(`${url}/runs/${runId}/events`))).slice(-1);
      expect(last?.run).toMatchObject({ status: end, interrupted_reason: reason });
      const { runs } = (await (await fetch(`${url}/runs`)).json()) as { runs: object[] };
      expect(runs).toMatchObject([{ run_id: runId, status: end }]);
    },
  );

  test('RST-14 what is wrong with a request is told with a code, and nothing is begun', async () => {
    const { start } = newServer();
    const { url } = await start();
    for (const [path, body, headers, code] of [
      ['/runs', '{', {}, 'INVALID_REQUEST'],
      ['/runs', {}, {}, 'INVALID_REQUEST'],
      ['/runs', null, {}, 'INVALID_REQUEST'],
      ['/runs', { name: ' ' }, {}, 'INVALID_REQUEST'],
      ['/runs', { name: 'x'.repeat(61) }, {}, 'INVALID_REQUEST'],
      ['/runs', { name: 'x'.repeat(5_000) }, {}, 'REQUEST_TOO_LARGE'],
      ['/runs', { name: 'a' }, { 'content-type': 'text/plain' }, 'MEDIA_TYPE_UNSUPPORTED'],
      ['/runs/run_unknown/approve', {}, {}, 'JOB_NOT_FOUND'],
      ['/runs/run_unknown/cancel', {}, {}, 'JOB_NOT_FOUND'],
      ['/../main.ts', {}, {}, 'ROUTE_NOT_FOUND'],
    ] as const) {
      const answer = (await (await post(`${url}${path}`, body, headers)).json()) as {
        error: { code: string };
      };
      expect(answer.error.code, `${path} ${JSON.stringify(body)?.slice(0, 80)}`).toBe(code);
    }
    expect(await (await fetch(`${url}/runs`)).json()).toEqual({ runs: [] });
    const { headers } = await fetch(url);
    expect(headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'");
  });
});

if (CHROMIUM === null) process.stderr.write(`examples/web-ui in a browser: skipped${WITHOUT}\n`);

describe.runIf(CHROMIUM !== null)(`examples/web-ui in a browser${WITHOUT}`, () => {
  test('RST-14 the server is killed in the middle of a run: the page goes on by itself, to the end', async () => {
    const { start } = newServer();
    const first = await start({ WEB_TICK_MS: '400' });
    const { page, errors } = await openBrowser();
    await page.goto(first.url);
    await page.getByText('Nothing has been released yet.').waitFor();
    const runId = await startRun(page, 'shop 1.4');
    await step(page, 'build', 'success');
    await step(page, 'test', 'running');
    await first.kill();
    await page.getByText('The connection is lost').waitFor();

    await start({ WEB_PORT: new URL(first.url).port });
    await step(page, 'approval', 'running');
    expect(await page.locator('#run-status').textContent()).toBe('… running');
    // By keyboard alone: the field for names still has the focus, and the button to start comes first.
    for (const name of ['Start', 'Approve']) {
      await page.keyboard.press('Tab');
      expect(await page.locator(':focus').textContent()).toBe(name);
    }
    await page.keyboard.press('Enter');
    await status(page, 'success');
    expect(await page.locator('#run-message').textContent()).toBe('shop 1.4 is published');
    expect(await page.locator("[data-key='test'] [data-key='macos'] pre").textContent()).toContain(
      'all passed',
    );
    await page.locator('#history [data-status="success"]').waitFor();

    await page.reload();
    await status(page, 'success');
    expect(await page.locator('#run-id').textContent()).toBe(runId);
    expect(errors).toEqual([]);
  });

  test('RST-14 told to interrupt: the page shows the run as archived, with its history', async () => {
    const { start } = newServer();
    const first = await start();
    const { page, errors } = await openBrowser({ colorScheme: 'dark', width: 360 });
    await page.goto(first.url);
    await startRun(page, 'declined 1');
    await page.getByRole('button', { name: 'Decline' }).click();
    await status(page, 'failed');
    expect(await page.locator('#run-message').textContent()).toBe('declined 1 was declined');
    await startRun(page, 'cancelled 2');
    await page.getByRole('button', { name: 'Cancel the run' }).click();
    await status(page, 'canceled');
    // Names are text, whatever they look like.
    const name = '<img src=x onerror="document.title=1"> 3';
    await startRun(page, name);
    await step(page, 'approval', 'running');
    await first.kill();

    await start({ WEB_PORT: new URL(first.url).port, WEB_AFTER_RESTART: 'interrupt' });
    await status(page, 'interrupted');
    expect(await page.locator('#run-message').textContent()).toBe('the server was restarted');
    expect(await page.locator('#run-name').textContent()).toBe(`release ${name}`);
    await page.locator('#history [data-status="interrupted"]').waitFor();
    expect(await page.locator('#history li .line').allTextContents()).toEqual([
      `release ${name}! interrupted`,
      'release cancelled 2– canceled',
      'release declined 1✗ failed',
    ]);
    const widths = await page.evaluate<[number, number]>(
      '[document.documentElement.scrollWidth, innerWidth]',
    );
    expect(widths[0]).toBeLessThanOrEqual(widths[1]);

    await page.getByRole('link', { name: 'release declined 1' }).click();
    await status(page, 'failed');
    await page.goto(`${first.url}/?run=run_unknown`);
    await page.getByText('there is no run run_unknown').waitFor();
    expect(errors.filter((error) => !error.includes('404'))).toEqual([]);
  });
});
