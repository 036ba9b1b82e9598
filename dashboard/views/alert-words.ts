import type { Alert } from '../api/alerts.js';
import { hrefOf } from '../route.js';
import { spanInWords } from '../time-in-words.js';

type Words = {
  readonly name: string;
  /** What was measured, and what it was held against. */
  readonly figures: (value: number, threshold: number) => string;
  readonly next: readonly (readonly [label: string, href: string])[];
};

const percent = (share: number): string => `${(100 * share).toFixed(1).replace(/\.0$/, '')} %`;
const plain = (value: number): string => `${Math.round(value * 10) / 10}`;

const RULES: Readonly<Record<string, Words>> = {
  retrying_share: {
    name: 'Many jobs are being retried',
    figures: (value, threshold) => `${percent(value)} of live jobs, more than ${percent(threshold)}`,
    next: [['Jobs that are retrying', hrefOf('jobs', { query: { status: 'retrying' } })]],
  },
  dlq_growth: {
    name: 'Dead letters are growing',
    figures: (value, threshold) => `${plain(value)} new dead letters, from ${plain(threshold)} on`,
    next: [['Open dead letters', hrefOf('dead-letters')]],
  },
  transition_refused: {
    name: 'Commands are refused again and again',
    figures: (value, threshold) => `${plain(value)} in a row, from ${plain(threshold)} on`,
    next: [],
  },
  effect_late_result: {
    name: 'An effect happened after it was said not to have',
    figures: () => '',
    next: [],
  },
  store_unavailable: {
    name: 'The store could not be used',
    figures: (value, threshold) => `for ${spanInWords(value)}, more than ${spanInWords(threshold)}`,
    next: [],
  },
};

export type AlertWords = { readonly name: string; readonly figures: string; readonly next: Words['next'] };

/** A rule that this page does not know is shown all the same, with its figures as they are. */
export function alertWords({ rule, value, threshold, job_id: jobId }: Alert): AlertWords {
  const words = RULES[rule];
  const job = jobId === null ? [] : [['The job that it is about', hrefOf('jobs', { id: jobId })] as const];
  if (words === undefined) return { name: rule, figures: `${value}, threshold ${threshold}`, next: job };
  return { name: words.name, figures: words.figures(value, threshold), next: [...words.next, ...job] };
}
