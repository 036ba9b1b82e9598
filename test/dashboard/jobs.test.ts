import type { Page, Route } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { fatal, task } from '../../src/index.js';
import { CHROMIUM } from '../apps/chromium.js';
import { closeDialog, confirm, openStand, ownErrors, POLL_MS, setStage, WITHOUT } from './stand.js';

if (CHROMIUM === null) process.stderr.write(`the dashboard’s jobs in a browser: skipped${WITHOUT}\n`);

const status = (page: Page, word: string): Promise<void> =>
  page.locator(`.lead [data-status='${word}']`).waitFor();

const approval = task({ name: 'approval' }, async ({ step }) => {
  await step.run('ask', () => 'asked');
  return { answer: await step.waitFor('approval', { timeout: '7d' }) };
});

describe.runIf(CHROMIUM !== null)(`the dashboard’s jobs in a browser${WITHOUT}`, () => {
  const stage = setStage('jobs');

  test('a job is followed live, from the list to its end, across a reload', async () => {
    const { app, url } = await openStand({ dashboard: stage.dashboard, tasks: [approval] });
    const { page, errors } = await stage.open();
    await page.clock.install();
    await page.goto(`${url}jobs`);
    await page.getByText('There are no jobs yet.').waitFor();
    const { job } = await app.start(approval, { amount: 12 });
    await page.clock.fastForward(POLL_MS);
    await page.getByRole('link', { name: job.id }).click();
    await status(page, 'waiting');
    expect(await page.locator('#why').textContent()).toMatch(/^It waits for signal 'approval' until /);
    expect(await page.getByLabel('the input', { exact: true }).textContent()).toContain('"amount": 12');
    await page.reload();
    await status(page, 'waiting');
    await page.locator("[data-stream='live']").waitFor();

    await page.getByRole('button', { name: 'Send signal' }).click();
    const payload = page.getByRole('dialog').getByLabel('Payload');
    await payload.fill('{ "by": ');
    await page.getByRole('dialog').getByText('The payload is no JSON').waitFor();
    expect(await page.getByRole('dialog').getByRole('button', { name: 'Send signal' }).isDisabled()).toBe(
      true,
    );
    await payload.fill('{ "by": "Ada" }');
    await confirm(page, 'Send signal', /goes on/);
    await closeDialog(page);
    await status(page, 'succeeded');
    await page.locator("[data-stream='ended']").waitFor();
    expect(await page.getByLabel('the result', { exact: true }).textContent()).toContain('"by": "Ada"');
    expect(await page.locator('.timeline .type').allTextContents()).toEqual([
      'job.created',
      'job.promoted',
      'attempt.started',
      'step.recorded',
      'wait.begun',
      'wait.completed',
      'attempt.started',
      'job.succeeded',
    ]);
    expect(errors).toEqual([]);
  });

  test('a job is cancelled once it is confirmed, and retried as a new one', async () => {
    const { app, url } = await openStand({ dashboard: stage.dashboard, tasks: [approval] });
    const { job } = await app.start(approval, {});
    const { page, errors } = await stage.open();
    await page.goto(`${url}jobs/${job.id}`);
    await page.getByRole('button', { name: 'Cancel job' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Leave it' }).click();
    expect((await job.status()).finishedAt).toBeNull();
    await page.getByRole('button', { name: 'Cancel job' }).click();
    await page
      .getByRole('dialog')
      .getByLabel(/^Reason/)
      .fill('nobody needs it');
    await confirm(page, 'Cancel job', 'The job is cancelled.');
    await closeDialog(page);
    await status(page, 'cancelled');
    await page.locator("[data-event='job.cancelled']", { hasText: 'nobody needs it' }).waitFor();

    // The answer is lost on its way: asked once more, it is the same new job.
    const loseAnswer = async (route: Route): Promise<void> => {
      await route.fetch();
      await route.abort();
    };
    await page.route('**/retry', loseAnswer, { times: 1 });
    await page.getByRole('button', { name: 'Retry as new' }).click();
    await confirm(page, 'Retry as new', 'The server does not answer.');
    await confirm(page, 'Retry as new', /^Started as/);
    await page.getByRole('dialog').getByRole('link').click();
    await page.waitForURL((address) => !address.href.endsWith(job.id));
    await status(page, 'waiting');
    expect(await app.counts()).toMatchObject({ cancelled: 1, waiting: 1 });
    expect(errors).toEqual([]);
  });

  test('JOB-7 a job that runs is given up with a reason, and leads to its dead letter; one that waits is not', async () => {
    const stuck = task({ name: 'stuck' }, () => new Promise(() => undefined));
    const { app, url } = await openStand({ dashboard: stage.dashboard, tasks: [stuck, approval] });
    const { job: waiting } = await app.start(approval, {});
    const { job } = await app.start(stuck, {});
    const { page, errors } = await stage.open();
    await page.goto(`${url}jobs/${waiting.id}`);
    await status(page, 'waiting');
    await page.getByRole('button', { name: 'Cancel job' }).waitFor();
    expect(await page.getByRole('button', { name: 'Give up' }).count()).toBe(0);
    await page.goto(`${url}jobs/${job.id}`);
    await status(page, 'running');
    await page.getByRole('button', { name: 'Give up' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('A reason is needed').waitFor();
    expect(await dialog.getByRole('button', { name: 'Give up' }).isDisabled()).toBe(true);
    await dialog.getByLabel(/^Reason/).fill('the printer is gone');
    await confirm(page, 'Give up', 'The job has failed.');
    expect((await job.status()).failure).toMatchObject({ code: 'ABANDONED', message: 'the printer is gone' });
    await closeDialog(page);
    await status(page, 'failed');
    expect(await page.getByLabel('the error', { exact: true }).textContent()).toContain(
      'the printer is gone',
    );
    await page.getByRole('button', { name: 'Give up' }).waitFor({ state: 'detached' });
    expect(errors).toEqual([]);
  });

  test('hostile data is shown as text', async () => {
    const hostile = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';
    const markup = task({ name: `<b>${hostile}` }, () => {
      throw fatal(new Error(`${hostile}\u001b[31m`));
    });
    const { app, url } = await openStand({ dashboard: stage.dashboard, tasks: [markup] });
    const input = { [hostile]: hostile, long: hostile.repeat(200) };
    const { job } = await app.start(markup, input, { idempotencyKey: hostile });
    const { page, errors } = await stage.open();
    await page.goto(`${url}jobs/${job.id}`);
    await status(page, 'failed');
    expect(await page.locator('h1').textContent()).toBe(markup.name);
    expect(await page.getByLabel('the error', { exact: true }).textContent()).toContain(hostile);
    await page.getByRole('button', { name: /^Show all/ }).click();
    await page.locator("[data-event='job.created'] summary").click();
    await page.getByLabel('event job.created', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Retry as new' }).click();
    await page.getByRole('dialog').getByText(markup.name).waitFor();
    await page.keyboard.press('Escape');
    const plain = async (): Promise<void> => {
      await page.getByText('Loading').first().waitFor({ state: 'detached' });
      expect(await page.locator('img, b, main script').count()).toBe(0);
      expect(await page.evaluate('window.hacked')).toBeUndefined();
    };
    await plain();
    for (const view of [
      'jobs',
      'dead-letters',
      'audit',
      '',
      `jobs?job_type=${encodeURIComponent(markup.name)}`,
    ]) {
      await page.goto(url + view);
      await page.locator('h1').waitFor();
      await plain();
    }
    expect(await page.locator('tbody tr').count()).toBe(1);
    await page.goto(`${url}dead-letters`);
    await page.getByRole('link', { name: /^dlq_/ }).click();
    await page.getByLabel('the input', { exact: true }).waitFor();
    await plain();
    await page.goto(`${url}jobs/${encodeURIComponent(hostile)}`);
    await page.getByRole('alert').waitFor();
    await plain();
    expect(ownErrors(errors)).toEqual([]);
  });

  test('a connection that is lost is told, and taken up again where it was', async () => {
    const { app, url, cut } = await openStand({ dashboard: stage.dashboard, tasks: [approval] });
    const { job } = await app.start(approval, {});
    const { page, errors } = await stage.open();
    await page.clock.install();
    await page.goto(`${url}jobs/${job.id}`);
    await status(page, 'waiting');
    await page.locator("[data-event='wait.begun']").waitFor();
    const restore = await cut();
    await page.clock.fastForward(POLL_MS);
    await page.getByText('Connection lost').waitFor();
    await page.locator("[data-stream='lost']").waitFor();
    // What was there stays.
    await status(page, 'waiting');
    await job.signal('approval', true);
    await job.result({ timeout: '200s' });

    await restore();
    await page.clock.fastForward(2 * POLL_MS);
    await status(page, 'succeeded');
    await page.getByText('Connection lost').waitFor({ state: 'detached' });
    const events = page.locator('.timeline > li');
    expect(await events.count()).toBe(8);
    expect(ownErrors(errors)).toEqual([]);
  });

  test('a tab that nobody sees asks nothing and holds no connection; seen again, it has missed nothing', async () => {
    const { app, url } = await openStand({ dashboard: stage.dashboard, tasks: [approval] });
    const { job } = await app.start(approval, {});
    const { page, errors } = await stage.open();
    await page.clock.install();
    await page.goto(`${url}jobs/${job.id}`);
    await page.locator("[data-event='wait.begun']").waitFor();
    const turn = (hidden: boolean): Promise<unknown> =>
      page.evaluate(
        `Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });
         document.dispatchEvent(new Event('visibilitychange'))`,
      );
    await turn(true);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await job.signal('approval', true);
    await job.result({ timeout: '200s' });
    await page.clock.fastForward(6 * POLL_MS);
    await status(page, 'waiting');
    expect(asked).toEqual([]);
    await turn(false);
    await status(page, 'succeeded');
    await page.locator("[data-stream='ended']").waitFor();
    expect(await page.locator('.timeline > li').count()).toBe(8);
    expect(errors).toEqual([]);
  });

  test('filters and pages are in the address', async () => {
    const echo = task({ name: 'echo' }, ({ input }) => input);
    const other = task({ name: 'other' }, ({ input }) => input);
    const { app, url } = await openStand({ dashboard: stage.dashboard, tasks: [echo, other], work: false });
    await app.startMany(
      echo,
      Array.from({ length: 60 }, (_, n) => ({ input: { n } })),
    );
    await app.start(other, {});
    const { page, errors } = await stage.open({ colorScheme: 'dark', width: 390 });
    await page.goto(`${url}jobs`);
    await page.locator('tbody tr').nth(49).waitFor();
    await page.getByRole('link', { name: 'Next page' }).click();
    await page.waitForURL(/cursor=/);
    await page.getByText('This is the last page.').waitFor();
    expect(await page.locator('tbody tr').count()).toBe(11);
    await page.getByLabel('Task').fill('other');
    await page.keyboard.press('Enter');
    await page.waitForURL(/jobs\?job_type=other$/);
    await page.reload();
    await page.locator('tbody tr').waitFor();
    expect(await page.getByLabel('Task').inputValue()).toBe('other');
    await page.getByLabel('Status').selectOption('failed');
    await page.getByText('No job fits.').waitFor();
    await page.goBack();
    await page.locator('tbody tr').waitFor();
    const widths = await page.evaluate<[number, number]>(
      '[document.documentElement.scrollWidth, innerWidth]',
    );
    expect(widths[0]).toBeLessThanOrEqual(widths[1]);
    expect(errors).toEqual([]);
  });
});
