import { expect, test } from 'vitest';
import { composeRecorders, runStates, type RunCallback } from '../../src/index.js';
import { RUN_STATE_CONFORMANCE } from '../../src/testkit/index.js';
import { SILENT as log } from '../guide/open-app.js';
import { ownStore, type KeyValue } from './own-store.js';

/** A toy: texts in a map, with compare-and-set. */
function toy(): KeyValue {
  const texts = new Map<string, string>();
  return {
    get: async (key) => texts.get(key) ?? null,
    async swap(key, from, to) {
      if ((texts.get(key) ?? null) !== from) return false;
      texts.set(key, to);
      return true;
    },
    keys: async () => [...texts.keys()],
  };
}

test.each(Object.entries(RUN_STATE_CONFORMANCE))('the host’s own store: %s', async (_title, run) => {
  const store = ownStore(toy());
  await run(async () => store);
});

test('RST-1 a host tracks its runs in a store of its own', async () => {
  const kv = toy();
  const told: RunCallback[] = [];

  const runs = await runStates({
    store: ownStore(kv),
    notifier: { detail: 'step', notify: (change) => void told.push(change) },
    log,
  });
  await runs.markInterrupted('the server was restarted');

  const tracker = await runs.track({ workflowName: 'deploy' });
  const recorder = composeRecorders([tracker, { stepStart: ({ step }) => log.info(step) }], { log });

  recorder.stepStart({ step: 'copy' });
  recorder.hostStart({ step: 'copy', host: 'web-1' });
  recorder.output({ step: 'copy', host: 'web-1', text: '12 files\n' });
  recorder.hostResult({ step: 'copy', host: 'web-1', status: 'success' });
  recorder.stepFinish({ step: 'copy', status: 'success' });
  await tracker.finish({ status: 'success' });

  const run = await runs.status(tracker.runId);

  await tracker.notified();
  expect(run).toMatchObject({
    status: 'success',
    last_error: null,
    steps: [{ name: 'copy', status: 'success', hosts: { 'web-1': { output: '12 files\n' } } }],
  });
  expect(told.map(({ status, step }) => [status, step])).toEqual([
    ['running', null],
    ['running', 'copy'],
    ['success', 'copy'],
    ['success', null],
  ]);
  await expect(runs.status('run_unknown')).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' });
});

test('RST-15 a run that the process before left behind is archived, and settled later', async () => {
  const kv = toy();
  const before = await runStates({ store: ownStore(kv), log });
  const { runId } = await before.track({ workflowName: 'deploy' });
  await new Promise((resolve) => setImmediate(resolve));

  const runs = await runStates({ store: ownStore(kv), log });

  const [id = ''] = await runs.markInterrupted('the server was restarted');
  await runs.reconcile(id, {
    outcome: 'success',
    reason: 'the release is live',
    actor: 'ops',
  });

  expect(id).toBe(runId);
  expect(await runs.status(id)).toMatchObject({
    status: 'interrupted',
    interrupted_reason: 'the server was restarted',
    reconciliation: { outcome: 'success', actor: 'ops' },
  });
});
