import { describe, expect, test } from 'vitest';
import { testApp } from '../../testkit/index.js';
import { isAnyOn, readAlertOptions } from './alert-options.js';

describe('alert options', () => {
  test('JOB-12 the defaults', () => {
    expect(readAlertOptions({})).toEqual({
      everyMs: null,
      keepMs: 30 * 86_400_000,
      retryingShare: { share: 0.2, atLeast: 50, forMs: 300_000 },
      dlqGrowth: { atLeast: 10, withinMs: 300_000, times: 3, beforeMs: 3_600_000 },
      transitionRefused: { inARow: 3, withinMs: 300_000 },
      effectLateResult: { forMs: 86_400_000 },
      storeUnavailable: { forMs: 5_000, tenantId: 'default' },
    });
  });

  test('what is given counts, the rest stays; each rule can be switched off, and all of them', () => {
    const options = readAlertOptions({ every: '10s', retryingShare: { share: 0.5 }, dlqGrowth: false });
    expect(options).toMatchObject({
      everyMs: 10_000,
      retryingShare: { share: 0.5, atLeast: 50 },
      dlqGrowth: null,
      transitionRefused: { inARow: 3 },
    });
    expect([isAnyOn(options), isAnyOn(readAlertOptions(false))]).toEqual([true, false]);
  });

  test.each<[string, object]>([
    ['alerts', true as never],
    ['alerts', null as never],
    ['alerts.every', { every: 0 }],
    ['alerts.every', { every: 'soon' }],
    ['alerts.keep', { keep: -1 }],
    ['alerts.retryingShare', { retryingShare: true }],
    ['alerts.retryingShare.share', { retryingShare: { share: 0 } }],
    ['alerts.retryingShare.share', { retryingShare: { share: 1 } }],
    ['alerts.retryingShare.share', { retryingShare: { share: '20 %' } }],
    ['alerts.retryingShare.share', { retryingShare: { share: Number.NaN } }],
    ['alerts.retryingShare.atLeast', { retryingShare: { atLeast: 0 } }],
    ['alerts.retryingShare.atLeast', { retryingShare: { atLeast: 1.5 } }],
    ['alerts.retryingShare.for', { retryingShare: { for: '-5m' } }],
    ['alerts.dlqGrowth.atLeast', { dlqGrowth: { atLeast: -1 } }],
    ['alerts.dlqGrowth.within', { dlqGrowth: { within: 0 } }],
    ['alerts.dlqGrowth.times', { dlqGrowth: { times: -0.1 } }],
    ['alerts.dlqGrowth.before', { dlqGrowth: { before: '0s' } }],
    ['alerts.transitionRefused.inARow', { transitionRefused: { inARow: 0 } }],
    ['alerts.transitionRefused.within', { transitionRefused: { within: 0 } }],
    ['alerts.effectLateResult.for', { effectLateResult: { for: 0 } }],
    ['alerts.storeUnavailable.for', { storeUnavailable: { for: 'x' } }],
    ['alerts.storeUnavailable.tenantId', { storeUnavailable: { tenantId: '' } }],
  ])('JOB-12 INVALID_OPTION names %s', async (option, alerts) => {
    const opened = testApp({ alerts, work: false });
    await expect(opened).rejects.toMatchObject({ code: 'INVALID_OPTION', details: { option } });
    await expect(opened).rejects.toThrow(option);
  });
});
