import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { apply, loadWorkflow } from '../../src/runner/index.js';
import { SILENT as log } from '../guide/open-app.js';

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

test('RST-13 the workflow of docs/runner.md does what the page says', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-deploy-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { source, workflow } = await loadWorkflow(here('deploy.yaml'));
  expect(readFileSync(here('../../docs/runner.md'), 'utf8')).toContain(`\`\`\`yaml\n${source.text}\`\`\``);
  const before = process.cwd();
  process.chdir(folder);
  onTestFinished(() => process.chdir(before));

  const { runId, status, run, exported } = await apply(
    { source, workflow },
    { store: 'sqlite:pawl.db', log },
  );

  expect(status).toBe('success');
  expect(exported).toEqual({ 'web-1': { pages: '2' }, 'web-2': { pages: '2' } });
  expect(run?.run_id).toBe(runId);
  expect(run?.steps.map((step) => [step.name, step.status])).toEqual([
    ['make room', 'success'],
    ['configure', 'success'],
    ['install', 'success'],
    ['count', 'success'],
    ['complain', 'skipped'],
    ['reload', 'success'],
  ]);
  expect(readFileSync('site-web-1/site.conf', 'utf8')).toBe('release=2027-01\nport=8081\n');
  expect(readFileSync('site-web-2/about.html', 'utf8')).toBe('about of 2027-01\n');
  expect(run?.steps.at(-1)?.hosts['web-2']?.output).toBe('reloaded web-2 on 8080\n');
});
