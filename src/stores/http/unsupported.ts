import { PawlError } from '../../errors.js';
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
] as const satisfies readonly (keyof Store)[];

type Unsupported = Pick<Store, (typeof BESIDE_THE_STORE)[number] | 'commitWithin' | 'begin'>;

export function unsupported(): Unsupported {
  const refuse = (code: 'REMOTE_UNSUPPORTED' | 'TX_UNSUPPORTED', detail: string) => (): Promise<never> =>
    Promise.reject(new PawlError(code, { detail }));
  const noTransactions = refuse('TX_UNSUPPORTED', 'a server shares no transaction with its applications');
  const all = BESIDE_THE_STORE.map((name) => [
    name,
    refuse('REMOTE_UNSUPPORTED', `'${name}' is not for a remote application`),
  ]);
  return {
    ...(Object.fromEntries(all) as Pick<Store, (typeof BESIDE_THE_STORE)[number]>),
    commitWithin: noTransactions,
    begin: noTransactions,
  };
}
