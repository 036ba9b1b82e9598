import { describe, expect, test } from 'vitest';
import { effect, schedule, task } from '../../src/index.js';
import { CHROMIUM } from '../apps/chromium.js';
import { closeDialog, confirm, openStand, ownErrors, setStage, WITHOUT } from './stand.js';

if (CHROMIUM === null) process.stderr.write(`the dashboard’s decisions in a browser: skipped${WITHOUT}\n`);

const send = effect({
  name: 'bank.transfer',
  run: async (): Promise<{ id: string }> => {
    throw new Error('socket hang up');
  },
});
const transfer = task({ name: 'transfer' }, async ({ step }) => step.effect('send', send, { cents: 100 }));
const echo = task({ name: 'echo' }, ({ input }) => input);

describe.runIf(CHROMIUM !== null)(`the dashboard’s decisions in a browser${WITHOUT}`, () => {
  const stage = setStage('effects');

  test('an effect that nobody knows the outcome of is decided, and its job goes on', async () => {
    const { app, url } = await openStand({ dashboard: stage.dashboard, tasks: [transfer] });
    const { job } = await app.start(transfer, {});
    const { page, errors } = await stage.open();
    await page.goto(`${url}jobs/${job.id}`);
    await page.getByText(/^Nobody knows whether effect 'send#1' happened/).waitFor();
    await page.getByRole('link', { name: 'Effects' }).click();
    await page.getByRole('button', { name: 'Decide' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('button', { name: 'Decide' }).isDisabled()).toBe(true);
    await dialog.getByLabel(/^It happened/).check();
    await dialog.getByLabel('Result (JSON)').fill('{ "id": "tr_1" }');
    await confirm(page, 'Decide', /^It is decided/);
    await closeDialog(page);
    await page.getByText('Nobody waits for a decision.').waitFor();
    expect(await job.result({ timeout: '200s' })).toEqual({ id: 'tr_1' });
    expect(ownErrors(errors)).toEqual([]);
  });

  test('schedules are triggered, paused and deleted; queues are paused and resumed', async () => {
    const { app, url } = await openStand({ dashboard: stage.dashboard, tasks: [echo] });
    await app.schedules.put(schedule(echo, { id: 'nightly', cron: '0 3 * * *', input: {} }));
    const { page, errors } = await stage.open();
    const act = async (button: string, answer: string | RegExp): Promise<void> => {
      await page.getByRole('button', { name: button, exact: true }).first().click();
      await confirm(page, button, answer);
      await closeDialog(page);
    };
    await page.goto(`${url}schedules`);
    await act('Trigger', /^Started/);
    await page.locator('td[data-label="last job"] a').waitFor();
    await act('Pause', 'It is paused.');
    await page.locator("td [data-status='paused']").waitFor();
    await act('Resume', 'It fires again.');
    await act('Delete', 'It is deleted.');
    await page.getByText('There are no schedules.').waitFor();
    await page.getByRole('link', { name: 'Queues' }).click();
    await act('Pause', 'It is paused.');
    await page.locator("td [data-status='paused']").waitFor();
    await act('Resume', 'Its jobs are taken again.');
    await page.locator("td [data-status='active']").waitFor();
    await page.getByRole('link', { name: 'Workers' }).click();
    await page.locator("td [data-status='alive']").waitFor();
    await page.getByRole('link', { name: 'Audit' }).click();
    await page.getByRole('heading', { name: 'Audit' }).waitFor();
    expect(ownErrors(errors)).toEqual([]);
  });
});
