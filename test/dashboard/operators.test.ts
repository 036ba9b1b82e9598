import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { fatal, schedule, task } from '../../src/index.js';
import { CHROMIUM } from '../apps/chromium.js';
import { closeDialog, confirm, openStand, ownErrors, POLL_MS, setStage, WITHOUT } from './stand.js';

if (CHROMIUM === null) process.stderr.write(`the dashboard’s operators in a browser: skipped${WITHOUT}\n`);

const doomed = task({ name: 'doomed' }, () => {
  throw fatal(new Error('it cannot be'));
});

async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key);
  await page.keyboard.press('Enter');
}

describe.runIf(CHROMIUM !== null)(`the dashboard’s operators in a browser${WITHOUT}`, () => {
  const stage = setStage('operators');

  test('a dead letter is requeued once: the second is told that somebody was faster', async () => {
    const { app, url } = await openStand({ dashboard: stage.dashboard, tasks: [doomed] });
    const { job } = await app.start(doomed, { n: 1 });
    await job.result().catch(() => undefined);
    const { page, context, errors } = await stage.open();
    await page.goto(`${url}dead-letters`);
    await page.getByRole('link', { name: /^dlq_/ }).click();
    await page.getByRole('button', { name: 'Requeue' }).click();
    const second = await context.newPage();
    await second.clock.install();
    await second.goto(page.url());
    await second.getByRole('button', { name: 'Requeue' }).click();

    await page.getByLabel('Reason, for the trail').fill('the carrier is back');
    await confirm(page, 'Requeue', /^Requeued as/);
    // Time passes, but nothing changes behind an open question.
    await second.clock.fastForward(2 * POLL_MS);
    await confirm(second, 'Requeue', 'Somebody else has done this already');
    const refusal = await second.getByRole('dialog').getByRole('alert').textContent();
    expect(refusal).toMatch(/It is not so any more.*is requeued already.*DLQ_REQUEUE_CONFLICT · request \w+/);
    for (const one of [page, second]) {
      await closeDialog(one);
      await one.locator(".lead [data-status='requeued']").waitFor();
      expect(await one.getByRole('button', { name: 'Requeue' }).count()).toBe(0);
      await one.getByRole('cell', { name: 'the carrier is back' }).waitFor();
    }
    expect(ownErrors(errors)).toEqual([]);
  });

  test('many are requeued at once, after it was counted what would be', async () => {
    const { app, url } = await openStand({ dashboard: stage.dashboard, tasks: [doomed] });
    const started = await app.startMany(
      doomed,
      [1, 2, 3].map((n) => ({ input: { n } })),
    );
    for (const { job } of started) await job.result().catch(() => undefined);
    const { page, errors } = await stage.open();
    await page.goto(`${url}dead-letters?job_type=doomed`);
    await page.locator('tbody tr').nth(2).waitFor();
    await page.getByRole('button', { name: 'Requeue all that fit' }).click();
    await page
      .getByRole('dialog')
      .getByText("3 dead letters will be requeued: all open ones of task 'doomed'")
      .waitFor();
    expect(await page.locator('tbody tr').count()).toBe(3);
    const going = page.getByRole('dialog').getByLabel(/Go on where it was/);
    await going.check();
    await page.getByRole('dialog').getByText('3 dead letters will be requeued').waitFor();
    await confirm(page, 'Requeue all that fit', 'Requeued 3.');
    for (const { jobId, requeuedAs } of await app.deadLetters.list({ status: 'requeued' }))
      expect((await app.job(`${requeuedAs}`).status()).spec.continues?.jobId).toBe(jobId);
    expect(ownErrors(errors)).toEqual([]);
  });

  test('signs in with a key, is told of a wrong one, and signs out', async () => {
    const stand = await openStand({ dashboard: stage.dashboard, tasks: [doomed] });
    const { job } = await stand.app.start(doomed, {});
    const key = await stand.key('operator');
    const { page, context, errors } = await stage.open();
    // A link leads to where it points once somebody is signed in.
    await page.goto(`${stand.url}jobs/${job.id}`);
    await signIn(page, `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`);
    await page.getByText('This key is not valid.').waitFor();
    await signIn(page, key);
    await page.locator(".lead [data-status='failed']").waitFor();
    const [cookie] = await context.cookies(`${stand.url.replace('/dashboard/', '')}/api/v1`);
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
    expect(await page.evaluate('document.cookie')).toBe('');
    await page.reload();
    await page.locator(".lead [data-status='failed']").waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').waitFor();
    await page.reload();
    await page.getByLabel('API key').waitFor();
    expect(ownErrors(errors)).toEqual([]);
  });

  test('a viewer is offered no actions; a second reviewer agrees to a discard', async () => {
    const stand = await openStand({ dashboard: stage.dashboard, tasks: [doomed] });
    const { job } = await stand.app.start(doomed, {});
    await job.result().catch(() => undefined);
    await stand.app.schedules.put(schedule(doomed, { id: 'nightly', cron: '0 3 * * *', input: {} }));
    const [viewer, one, another] = [
      await stand.key('viewer'),
      await stand.key('operator'),
      await stand.key('operator'),
    ];
    const { page, errors } = await stage.open();
    await page.goto(stand.url);
    await signIn(page, viewer);
    const buttons = page.locator('main button:not(.copy)');
    for (const view of ['Jobs', 'Dead letters', 'Schedules', 'Queues', 'Callbacks', 'Effects', 'Overview']) {
      await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: view }).click();
      await page.getByText('Loading').first().waitFor({ state: 'detached' });
      expect(await buttons.allTextContents(), view).toEqual([]);
    }
    for (const view of ['Audit', 'Workers']) {
      expect(await page.getByRole('link', { name: view }).count()).toBe(0);
    }
    await page.goto(`${stand.url}jobs/${job.id}`);
    await page.locator(".lead [data-status='failed']").waitFor();
    expect(await buttons.allTextContents()).toEqual([]);
    await page.getByRole('link', { name: /^dlq_/ }).click();
    await page.locator(".lead [data-status='open']").waitFor();
    expect(await buttons.allTextContents()).toEqual([]);

    const change = async (key: string): Promise<void> => {
      await page.getByRole('button', { name: 'Sign out' }).click();
      await signIn(page, key);
      await page.locator('.lead').waitFor();
    };
    await change(one);
    await page.getByRole('button', { name: 'Ask to discard' }).click();
    await page.getByRole('dialog').getByLabel('Reason').fill('a test order');
    await confirm(page, 'Ask to discard', 'It stays open until another reviewer agrees.');
    await closeDialog(page);
    await page.getByText('must agree').waitFor();
    expect(await page.getByRole('button', { name: 'Agree to discard' }).count()).toBe(0);
    await change(another);
    await page.getByRole('button', { name: 'Agree to discard' }).click();
    await page.getByRole('dialog').getByText('a test order').waitFor();
    await confirm(page, 'Agree to discard', 'Discarded.');
    await closeDialog(page);
    await page.locator(".lead [data-status='discarded']").waitFor();
    expect(ownErrors(errors)).toEqual([]);
  });
});
