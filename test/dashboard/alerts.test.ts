import { describe, expect, onTestFinished, test } from 'vitest';
import { evaluateAlerts } from '../../src/engine/alerts/evaluate.js';
import { task } from '../../src/index.js';
import { CHROMIUM } from '../apps/chromium.js';
import { ApiRig } from '../http/api-rig.js';
import { ownErrors, POLL_MS, setStage, WITHOUT } from './stand.js';

const MIN = 60_000;
const NO_KEYS = { key: null };

if (CHROMIUM === null) process.stderr.write(`the dashboard’s alerts in a browser: skipped${WITHOUT}\n`);

async function startJobs(rig: ApiRig, count: number): Promise<string[]> {
  const jobs = Array.from({ length: count }, () => ({ job_type: 'echo' }));
  const { data } = await rig.post('/api/v1/jobs/bulk', { jobs });
  return (data['jobs'] as { job_id: string }[]).map(({ job_id: id }) => id);
}

describe.runIf(CHROMIUM !== null)(`the dashboard’s alerts in a browser${WITHOUT}`, () => {
  const stage = setStage('alerts');

  test('JOB-12 alerts are visible in the dashboard: each of the three, with its figures, without a reload, until it clears by itself', async () => {
    const echo = task({ name: 'echo' }, ({ input }) => input);
    const rig = await ApiRig.start({ tasks: [echo], keys: false, served: true, dashboard: stage.dashboard });
    onTestFinished(() => rig.stop());
    const { page, errors } = await stage.open();
    await page.clock.install();
    await page.goto(`${rig.url}/dashboard/alerts`);
    await page.getByText('There has been no alert in the last 30 days.').waitFor();
    expect(await page.title()).toBe('Alerts · Pawl');
    const open = page.getByRole('region', { name: 'Open' });
    const look = async (): Promise<void> => {
      await evaluateAlerts(rig.engine);
      await page.clock.fastForward(POLL_MS);
    };

    // Retrying: 11 of 54 live jobs, for five minutes.
    const retrying = await startJobs(rig, 11);
    for (const id of retrying) await rig.drill(id, '?transient_fail=true', NO_KEYS);
    await startJobs(rig, 43);
    await look();
    await page.getByRole('region', { name: 'Not yet for long enough' }).locator('li').waitFor();
    expect(await page.title()).toBe('Alerts · Pawl');
    rig.app.clock.advance(5 * MIN);
    await look();
    const share = open.locator("[data-rule='retrying_share']");
    await share.waitFor();
    expect(await share.textContent()).toMatch(/P2.*20\.4 % of live jobs, more than 20 %.*11 of 54 live jobs/);
    await page.waitForFunction('document.title === "(1) Alerts · Pawl"');

    // Growth: ten dead letters of this tenant within five minutes.
    const doomed = await startJobs(rig, 10);
    for (const id of doomed) await rig.drill(id, '?force_fail=true', NO_KEYS);
    await look();
    const growth = open.locator("[data-rule='dlq_growth']");
    await growth.waitFor();
    expect(await growth.textContent()).toMatch(/P2.*10 new dead letters, from 10 on.*tenant default/);

    // Three commands in a row that the state of the job does not allow: P1, which stands first.
    const [ended = ''] = doomed;
    for (let n = 0; n < 3; n++) {
      expect((await rig.post(`/api/v1/jobs/${ended}/cancel`, {}, NO_KEYS)).error.code).toBe(
        'WF_STATE_TRANSITION_INVALID',
      );
    }
    await look();
    const refused = open.locator("[data-rule='transition_refused']");
    await refused.waitFor();
    expect(await refused.textContent()).toMatch(/P1.*3 in a row, from 3 on/);
    expect(await open.locator('li').first().getAttribute('data-rule')).toBe('transition_refused');
    await page.waitForFunction('document.title === "(3) Alerts · Pawl"');
    expect(await page.getByRole('link', { name: 'Alerts' }).textContent()).toBe('Alerts3');

    // What to look at next.
    await growth.getByRole('link', { name: 'Open dead letters' }).click();
    await page.locator('tbody tr').first().waitFor();
    expect(await page.locator('tbody tr').count()).toBe(10);
    await page.goBack();
    await share.getByRole('link', { name: 'Jobs that are retrying' }).click();
    await page.waitForURL(/status=retrying/);
    await page.locator("tbody [data-status='retrying']").first().waitFor();
    expect(await page.locator("tbody [data-status='retrying']").count()).toBe(11);
    await page.goBack();
    await refused.waitFor();

    // It is over.
    for (const id of retrying) await rig.post(`/api/v1/jobs/${id}/cancel`, {}, NO_KEYS);
    rig.app.clock.advance(6 * MIN);
    await look();
    const cleared = page.getByRole('region', { name: 'Cleared' }).locator('li');
    await cleared.nth(2).waitFor();
    expect(await open.count()).toBe(0);
    await page.waitForFunction('document.title === "Alerts · Pawl"');
    expect(await page.getByRole('link', { name: 'Alerts' }).textContent()).toBe('Alerts');
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByText('No alert is open.').waitFor();
    expect(ownErrors(errors)).toEqual([]);
  });
});
