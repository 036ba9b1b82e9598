import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applyRunPatch, hasEnded, newRun, runState, type RunPatch } from './index.js';

const AT = '2026-01-01T00:00:00Z';
const fresh = newRun({ run_id: 'run_00000001', workflow_name: 'deploy', at: AT });
const patch = (changes: Partial<RunPatch>): RunPatch => ({
  run_id: 'run_00000001',
  updated_at: AT,
  ...changes,
});

describe('RST-8 write-back', () => {
  test('RST-8 whatever is written, a run only ever walks along its machine, one version at a time', () => {
    const changes = fc.record(
      { status: fc.constantFrom(...runState.machine.states), message: fc.string() },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(changes, { maxLength: 12 }), (walk) => {
        let run = fresh;
        for (const step of walk) {
          const before = structuredClone(run);
          try {
            const after = applyRunPatch(run, patch(step));
            const to = step.status ?? run.status;
            expect(
              run.status === to || runState.machine.edges.some((e) => e.from === run.status && e.to === to),
            ).toBe(true);
            expect(hasEnded(run.status)).toBe(false);
            expect(after.version).toBe(run.version + 1);
            run = after;
          } catch (error) {
            expect(error).toMatchObject({ code: 'INVALID_TRANSITION' });
            expect(run).toEqual(before);
          }
        }
      }),
    );
  });

  test('RST-7 a patch of hosts leaves every other host and step as it was, whatever they are called', () => {
    const run = applyRunPatch(
      { ...fresh, status: 'running' },
      patch({ steps: [{ name: 'a' }, { name: 'b' }] }),
    );
    const hosts = JSON.parse('{"__proto__":{"output":"x"},"web":{"status":"failed"}}') as Record<
      string,
      object
    >;
    const after = applyRunPatch(run, patch({ steps: [{ name: 'b', hosts }] }));
    expect(after.steps[0]).toBe(run.steps[0]);
    expect(Object.keys(after.steps[1]?.hosts ?? {})).toEqual(['__proto__', 'web']);
    expect(after.steps.map(({ name }) => name)).toEqual(['a', 'b']);
  });

  test('RST-15 a finding cannot be used to change anything else of an interrupted run', () => {
    const ended = { ...fresh, status: 'interrupted' } as const;
    const reconciliation = { outcome: 'success', reason: 'seen', actor: 'ops', at: AT };
    expect(applyRunPatch(ended, patch({ reconciliation })).reconciliation).toEqual(reconciliation);
    expect(() => applyRunPatch(ended, patch({ reconciliation, message: 'other' }))).toThrow('has ended');
  });
});
