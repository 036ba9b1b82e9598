import { PawlError } from '../../errors.js';
import type { Command, CommandType } from '../../kernel/index.js';
import type { Store } from '../../ports/store.js';

/** What only those may do who stand beside the store: upkeep, what concerns all tenants, and the operators' own. */
const BESIDE_THE_STORE = [
  'orphans',
  'resolve',
  'unread',
  'due',
  'list',
  'counts',
  'liveCounts',
  'retrying',
  'countLive',
  'heads',
  'feed',
  'feedEnd',
  'feedHeldBack',
  'dlq',
  'dlqItem',
  'putDlqItem',
  'dlqOpen',
  'dlqEntered',
  'hold',
  'release',
  'heldFor',
  'pauseQueue',
  'pausedQueues',
  'putSchedule',
  'schedule',
  'deleteSchedule',
  'schedules',
  'dueSchedules',
  'putRecord',
  'record',
  'records',
  'deleteRecord',
  'takeOutbox',
  'settleOutbox',
  'deadOutbox',
  'aged',
  'purge',
  'strays',
] as const satisfies readonly (keyof Store)[];

/** What an application asked for that came to these first, and where a server answers it. */
const ASKED: Partial<Record<(typeof BESIDE_THE_STORE)[number], readonly [what: string, where: string]>> = {
  heldFor: ["'why' of a job that is neither running, waiting nor over", 'GET /api/v1/jobs/:job_id/why'],
  counts: ["'counts'", 'GET /api/v1/overview'],
  list: ["a search through jobs, as by 'unknownEffects',", 'GET /api/v1/jobs and /api/v1/effects/unknown'],
  dlq: ["'deadLetters'", '/api/v1/dlq'],
  dlqItem: ["'deadLetters'", '/api/v1/dlq'],
  schedule: ["'schedules'", '/api/v1/schedules'],
  schedules: ["'schedules'", '/api/v1/schedules'],
  putSchedule: ["'schedules'", '/api/v1/schedules'],
  deleteSchedule: ["'schedules'", '/api/v1/schedules'],
  records: ["'alerts'", 'GET /api/v1/alerts'],
  putRecord: ["'callbacks'", '/api/v1/callbacks'],
  record: ["'callbacks'", '/api/v1/callbacks'],
  deleteRecord: ["'callbacks'", '/api/v1/callbacks'],
  deadOutbox: ["'callbacks'", '/api/v1/callbacks/dead'],
};

function refusalOf(name: (typeof BESIDE_THE_STORE)[number]): string {
  const [what, where] = ASKED[name] ?? [`'${name}' of its store`, '/openapi.json tells what there is'];
  return `${what} is not for a remote application: ask the server (${where})`;
}

/** What operators say to a job, and where a server hears it. */
const ORDERS: Partial<Record<CommandType, readonly [what: string, where: string]>> = {
  'force-fail': ["'abandon'", 'POST /api/v1/jobs/:job_id/abandon'],
  'resolve-effect': ["'resolveEffect'", 'POST /api/v1/jobs/:job_id/effects/resolve'],
  'complete-wait': ["'resume'", 'an application beside its store'],
};

/** Throws REMOTE_UNSUPPORTED for an operator's command: a server takes those from operators' own requests only. */
export function expectNoOperator({ actor, type }: Command): void {
  if (!actor.startsWith('operator:')) return;
  const [what, where] = ORDERS[type] ?? [`'${type}'`, '/openapi.json tells what there is'];
  throw new PawlError('REMOTE_UNSUPPORTED', {
    detail: `${what} is not for a remote application: ask the server (${where})`,
  });
}

type Unsupported = Pick<Store, (typeof BESIDE_THE_STORE)[number] | 'commitWithin' | 'begin'>;

export function unsupported(): Unsupported {
  const refuse = (code: 'REMOTE_UNSUPPORTED' | 'TX_UNSUPPORTED', detail: string) => (): Promise<never> =>
    Promise.reject(new PawlError(code, { detail }));
  const noTransactions = refuse('TX_UNSUPPORTED', 'a server shares no transaction with its applications');
  const all = BESIDE_THE_STORE.map((name) => [name, refuse('REMOTE_UNSUPPORTED', refusalOf(name))]);
  return {
    ...(Object.fromEntries(all) as Pick<Store, (typeof BESIDE_THE_STORE)[number]>),
    commitWithin: noTransactions,
    begin: noTransactions,
  };
}
