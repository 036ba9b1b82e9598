import { decodeEvents, type Event } from '../kernel/index.js';
import type { CommitItem, CommitReplies, Store } from '../ports/store.js';
import type { Points } from './points.js';

/** Loops ask these again and again. Only a round that found something is a point, and the first of all. */
const POLLS: ReadonlySet<string> = new Set([
  'orphans',
  'due',
  'unread',
  'takeOutbox',
  'dueSchedules',
  'records',
  'retrying',
  'dlqEntered',
]);
/** Beats go on for ever; later ones differ from these only in when they come. */
const MOST_BEATS = 2;

type Method = (...asked: unknown[]) => Promise<unknown>;

/**
 * A store whose every call is two points: before it, and after it has taken effect and before its caller hears of it.
 * Within a claim there is a third, in the middle of the transaction.
 */
export function pointedStore(store: Store, points: Points): Store {
  return new Proxy(store, {
    get(target, name: keyof Store) {
      if (name === 'listen' || name === 'close') return target[name];
      if (name === 'wake') {
        return (lanes: readonly string[]) => {
          points.pass('before wake');
          target.wake(lanes);
        };
      }
      const method = target[name] as unknown as Method;
      if (name === 'claim') return claimWith(method, points);
      if (POLLS.has(name)) return pollWith(method, name, points);
      return async (...asked: unknown[]) => {
        const call = `${name}${detailOf(name, asked)}`;
        if (name === 'beat' && points.count('before beat') >= MOST_BEATS) return method(...asked);
        points.pass(`before ${call}`);
        const reply = await method(...asked);
        if (name === 'commit')
          for (const code of refusals(reply as CommitReplies)) points.pass(`${call} is ${code}`);
        points.pass(`after ${call}`);
        return reply;
      };
    },
  });
}

function pollWith(method: Method, name: string, points: Points): Method {
  return async (...asked) => {
    if (points.count(`before ${name}`) === 0) points.pass(`before ${name}`);
    const reply = await method(...asked);
    if (hasFound(reply as Readonly<Record<string, unknown>>)) points.pass(`after ${name}`);
    return reply;
  };
}

function claimWith(method: Method, points: Points): Method {
  const claim = method as unknown as Store['claim'];
  const pointed: Store['claim'] = async (request) => {
    if (points.count('before claim') === 0) points.pass('before claim');
    const decide: typeof request.decide = (found, now) => {
      const item = request.decide(found, now);
      points.pass(`within claim of ${found.job.spec.task}`);
      return item;
    };
    const reply = await claim({ ...request, decide });
    for (const { spec, attemptId } of reply.jobs) {
      points.claimed(spec.jobId, attemptId ?? '');
      points.pass(`after claim of ${spec.task}`);
    }
    return reply;
  };
  return pointed as unknown as Method;
}

function hasFound({ now: _now, ...reply }: Readonly<Record<string, unknown>>): boolean {
  return Object.values(reply).some((found) => Array.isArray(found) && found.length > 0);
}

function refusals({ replies }: CommitReplies): string[] {
  return replies.flatMap((reply) => (reply.ok ? [] : [reply.code]));
}

function detailOf(name: keyof Store, [first]: readonly unknown[]): string {
  if (name === 'commit') return ` ${(first as readonly CommitItem[]).map(eventsIn).join(' and ')}`;
  if (name === 'putEffect') return ` ${(first as { step: string }).step}`;
  if (name === 'putMessage') return ` ${(first as { key: string }).key}`;
  return '';
}

function eventsIn({ body }: CommitItem): string {
  const decoded = decodeEvents(body);
  return decoded.ok ? decoded.events.map(nameOf).join('+') : decoded.code;
}

/** An event with the step that it is about. */
export function nameOf(event: Event): string {
  if ('step' in event) return `${event.type}:${event.step}`;
  if (event.type === 'wait.begun') return `${event.type}:${event.waits.map(({ step }) => step).join(',')}`;
  return 'wait' in event ? `${event.type}:${event.wait.step}` : event.type;
}
