import { PawlError } from '../../errors.js';
import { CONTRACT_NAMES } from '../../contracts/index.js';
import type { Engine } from '../engine.js';
import { CALLBACK_EVENTS, type Subscription } from './subscription-cache.js';

export type NewSubscription = Omit<Subscription, 'id' | 'secret' | 'createdAt' | 'tasks'> & {
  readonly tasks?: readonly string[];
  /** The same again is the same subscription. */
  readonly id?: string;
};

export async function subscribe(engine: Engine, asked: NewSubscription): Promise<Subscription> {
  const { tenantId, url, contract, events, tasks = null } = asked;
  if (!CONTRACT_NAMES.includes(contract)) {
    throw new PawlError('INVALID_OPTION', {
      detail: `contract is ${JSON.stringify(contract)}, which is none of ${CONTRACT_NAMES.join(', ')}`,
      details: { option: 'contract' },
    });
  }
  const fits = Array.isArray(events) && events.length > 0;
  if (!fits || events.some((event) => !CALLBACK_EVENTS.includes(event))) {
    throw new PawlError('INVALID_OPTION', {
      detail: `events is ${JSON.stringify(events)}, which is no list of ${CALLBACK_EVENTS.join(', ')}`,
      details: { option: 'events' },
    });
  }
  if (events.includes('step') && contract !== 'run-state') {
    throw new PawlError('INVALID_OPTION', {
      detail: `changes of steps are told in the words of the contract 'run-state', and not of '${contract}'`,
      details: { option: 'events' },
    });
  }
  await engine.courier.check(url);
  const bytes = Uint8Array.from({ length: 24 }, () => engine.random.int(256));
  const secret = `whsec_${Buffer.from(bytes).toString('base64')}`;
  const id = `sub_${asked.id ?? engine.newId(0)}`;
  const createdAt = engine.now();
  const subscription: Subscription = { tenantId, id, url, contract, events, tasks, secret, createdAt };
  const body = JSON.stringify(subscription);
  const ref = { kind: 'subscription', tenantId, id } as const;
  const { saved } = await engine.store.putRecord({ ...ref, version: 1, body }, 0);
  const { record } = saved ? { record: null } : await engine.store.record(ref);
  await engine.subscriptions.refresh();
  return record === null ? subscription : (JSON.parse(record.body) as Subscription);
}

export async function unsubscribe(
  engine: Engine,
  { tenantId, id }: { tenantId: string; id: string },
): Promise<void> {
  const { deleted } = await engine.store.deleteRecord({ kind: 'subscription', tenantId, id });
  if (!deleted) throw new PawlError('SUBSCRIPTION_NOT_FOUND', { detail: `there is no subscription '${id}'` });
  await engine.subscriptions.refresh();
}
