import type { LogEvent } from '../job-log.js';

type Data = LogEvent['data'];

const inner = (data: Data, name: string): Data => {
  const value = data[name];
  return typeof value === 'object' && value !== null ? (value as Data) : {};
};
const word = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? `${value}` : '';
const failureOf = (data: Data): string => {
  const { code, message } = inner(data, 'failure');
  return `${word(code)}: ${word(message)}`;
};
const stepOf = (data: Data): string =>
  data['occurrence'] === 1 ? word(data['step']) : `${word(data['step'])}#${word(data['occurrence'])}`;

const WORDS: Readonly<Record<string, (data: Data) => string>> = {
  'attempt.started': (data) => `by worker ${word(inner(data, 'worker')['id'])}`,
  'attempt.failed': (data) => failureOf(data),
  'attempt.interrupted': (data) => word(data['reason']),
  'job.cancelled': (data) => word(data['reason']),
  'wait.begun': (data) =>
    Array.isArray(data['waits'])
      ? (data['waits'] as Data[]).map((wait) => `${word(wait['kind'])} ${word(wait['key'])}`).join(', ')
      : '',
  'wait.completed': (data) => `${word(inner(data, 'wait')['key'])}: ${word(data['outcome'])}`,
  'dlq.entered': (data) => failureOf(data),
  'dlq.recorded': (data) => word(data['dlq_id']),
  'step.recorded': stepOf,
  'step.failed': (data) => `${stepOf(data)}: ${failureOf(data)}`,
  'effect.intended': (data) => `${stepOf(data)}, about to enter ${word(data['tool'])}`,
  'effect.recorded': (data) => `${stepOf(data)} happened`,
  'effect.closed': (data) => `${stepOf(data)} did not happen: ${failureOf(data)}`,
  'effect.unknown': (data) => `${stepOf(data)}: nobody knows whether it happened`,
  'effect.reconciled': (data) => `${stepOf(data)}: ${word(data['verdict'])}`,
  'child.started': (data) => {
    const { task, child_id: id } = inner(data, 'child');
    return `${word(task)} ${word(id)}`;
  },
};

/** Events that change the colour; all others are calm. */
const STATES: Readonly<Record<string, string>> = {
  'job.succeeded': 'succeeded',
  'job.failed': 'failed',
  'job.cancelled': 'cancelled',
  'attempt.started': 'running',
  'attempt.failed': 'retrying',
  'attempt.interrupted': 'interrupted',
  'dlq.entered': 'failed',
  'dlq.recorded': 'failed',
  'step.failed': 'retrying',
  'effect.unknown': 'unknown',
};

/** What an event says, in one line; `word` is the state that it looks like. */
export function eventWords({ type, data }: LogEvent): { readonly words: string; readonly word: string } {
  return { words: WORDS[type]?.(data) ?? '', word: STATES[type] ?? '' };
}
