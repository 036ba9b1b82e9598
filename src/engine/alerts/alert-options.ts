import { PawlError } from '../../errors.js';
import { toMs, type Duration } from '../duration.js';
import { DEFAULT_TENANT } from '../new-job.js';
import { elsewhere } from '../option-checks.js';
import { Options } from '../options.js';

/** Which alerts are raised, and when; each may be switched off. The same for all processes, or they undo each other's. */
export type AlertSettings = {
  /** How often the rules are looked at. Every 30 seconds, or with every `poll` of the worker if those are rarer. */
  readonly every?: Duration;
  /** How long cleared alerts are kept. */
  readonly keep?: Duration;
  /** More than this share of a tenant's live jobs, if there are at least so many, is being retried for so long. */
  readonly retryingShare?: false | { share?: number; atLeast?: number; for?: Duration };
  /** A tenant had at least so many new dead letters within a time, and more than so many times as usual in the time before. */
  readonly dlqGrowth?: false | { atLeast?: number; within?: Duration; times?: number; before?: Duration };
  /** So many commands for a tenant's jobs were refused in a row, within a time, because of the state that a job was in. */
  readonly transitionRefused?: false | { inARow?: number; within?: Duration };
  /** An effect happened after it had been declared not to have; raised for so long. */
  readonly effectLateResult?: false | { for?: Duration };
  /** The store could not be used for so long. It is everybody's; its alert goes to one tenant. */
  readonly storeUnavailable?: false | { for?: Duration; tenantId?: string };
};

/** As they are used: every value is there; null is off. */
export type AlertOptions = {
  readonly everyMs: number | null;
  readonly keepMs: number;
  readonly retryingShare: { readonly share: number; readonly atLeast: number; readonly forMs: number } | null;
  readonly dlqGrowth: {
    readonly atLeast: number;
    readonly withinMs: number;
    readonly times: number;
    readonly beforeMs: number;
  } | null;
  readonly transitionRefused: { readonly inARow: number; readonly withinMs: number } | null;
  readonly effectLateResult: { readonly forMs: number } | null;
  readonly storeUnavailable: { readonly forMs: number; readonly tenantId: string } | null;
};

/** ops/prometheus/pawl.rules.yml has the same; a test compares. */
export const ALERT_DEFAULTS = {
  every: '30s',
  keep: '30d',
  retryingShare: { share: 0.2, atLeast: 50, for: '5m' },
  dlqGrowth: { atLeast: 10, within: '5m', times: 3, before: '1h' },
  transitionRefused: { inARow: 3, within: '5m' },
  effectLateResult: { for: '1d' },
  storeUnavailable: { for: '5s', tenantId: DEFAULT_TENANT },
} as const satisfies AlertSettings;

/** Throws INVALID_OPTION, with the name of the option, for what cannot be. */
export function readAlertOptions(settings: AlertSettings | false): AlertOptions {
  if (settings !== false && (typeof settings !== 'object' || settings === null))
    throw invalid('alerts', settings, 'neither false nor an object');
  const asked: AlertSettings = settings === false ? ALL_OFF : settings;
  expectNames(asked, ALERT_DEFAULTS, 'alerts.');
  const rule = <T extends object>(name: keyof typeof ALL_OFF, defaults: T): T | null => {
    const given: unknown = asked[name] ?? {};
    if (given === false) return null;
    if (typeof given !== 'object') throw invalid(`alerts.${name}`, given, 'neither false nor an object');
    expectNames(given, defaults, `alerts.${name}.`);
    return { ...defaults, ...given };
  };
  const share = rule('retryingShare', ALERT_DEFAULTS.retryingShare);
  const growth = rule('dlqGrowth', ALERT_DEFAULTS.dlqGrowth);
  const refused = rule('transitionRefused', ALERT_DEFAULTS.transitionRefused);
  const late = rule('effectLateResult', ALERT_DEFAULTS.effectLateResult);
  const store = rule('storeUnavailable', ALERT_DEFAULTS.storeUnavailable);
  return {
    everyMs: asked.every === undefined ? null : span(asked.every, 'every'),
    keepMs: toMs(asked.keep ?? ALERT_DEFAULTS.keep, 'alerts.keep'),
    retryingShare: share && {
      share: number(share.share, 'retryingShare.share', 'above 0 and below 1', (n) => n > 0 && n < 1),
      atLeast: count(share.atLeast, 'retryingShare.atLeast'),
      forMs: toMs(share.for, 'alerts.retryingShare.for'),
    },
    dlqGrowth: growth && {
      atLeast: count(growth.atLeast, 'dlqGrowth.atLeast'),
      withinMs: span(growth.within, 'dlqGrowth.within'),
      times: number(growth.times, 'dlqGrowth.times', 'of 0 or more', (n) => n >= 0),
      beforeMs: span(growth.before, 'dlqGrowth.before'),
    },
    transitionRefused: refused && {
      inARow: count(refused.inARow, 'transitionRefused.inARow'),
      withinMs: span(refused.within, 'transitionRefused.within'),
    },
    effectLateResult: late && { forMs: span(late.for, 'effectLateResult.for') },
    storeUnavailable: store && {
      forMs: toMs(store.for, 'alerts.storeUnavailable.for'),
      tenantId: tenant(store.tenantId),
    },
  };
}

export const DEFAULT_EVERY_MS = toMs(ALERT_DEFAULTS.every, 'alerts.every');

export function isAnyOn(options: AlertOptions): boolean {
  return RULES.some((name) => options[name] !== null);
}

const ALL_OFF = {
  retryingShare: false,
  dlqGrowth: false,
  transitionRefused: false,
  effectLateResult: false,
  storeUnavailable: false,
} as const;
const RULES = Object.keys(ALL_OFF) as (keyof typeof ALL_OFF)[];

/** Settings have the names that their defaults have. */
function expectNames(given: unknown, defaults: object, at: string): void {
  const checks = Object.fromEntries(Object.keys(defaults).map((name) => [name, elsewhere]));
  new Options<Record<string, unknown>>(checks).expect(given, 'pawl()', at);
}

function count(value: number, name: string): number {
  return number(value, name, 'that is whole and above 0', (n) => Number.isInteger(n) && n > 0);
}

function number(value: unknown, name: string, kind: string, fits: (value: number) => boolean): number {
  if (typeof value === 'number' && Number.isFinite(value) && fits(value)) return value;
  throw invalid(`alerts.${name}`, value, `no number ${kind}`);
}

function span(value: Duration, name: string): number {
  const ms = toMs(value, `alerts.${name}`);
  if (ms > 0) return ms;
  throw invalid(`alerts.${name}`, value, 'no time above 0');
}

function tenant(value: unknown): string {
  if (typeof value === 'string' && value !== '') return value;
  throw invalid('alerts.storeUnavailable.tenantId', value, 'no tenant');
}

function invalid(option: string, value: unknown, problem: string): PawlError {
  return new PawlError('INVALID_OPTION', {
    detail: `${option} is ${JSON.stringify(value)}, which is ${problem}`,
    details: { option },
  });
}
