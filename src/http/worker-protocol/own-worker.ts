import { PawlError } from '../../errors.js';
import type { WorkerRef } from '../../kernel/index.js';
import type { Caller } from '../route.js';

/**
 * What the names of a key's workers begin with. The name itself says whose a worker is, so that nothing needs to be kept,
 * and every server knows: no other key can beat, claim or write in its name, nor in that of a worker beside the store.
 */
export function nameOf({ actor }: Pick<Caller, 'actor'>): string {
  return `${actor.slice('operator:'.length)}:`;
}

export function isOwn(caller: Pick<Caller, 'actor'>, { id, incarnation }: WorkerRef): boolean {
  const under = nameOf(caller);
  return id.startsWith(under) && id.length > under.length && incarnation.startsWith(`${id}.`);
}

export function expectOwn(caller: Pick<Caller, 'actor'>, worker: WorkerRef): void {
  if (isOwn(caller, worker)) return;
  throw new PawlError('FORBIDDEN', {
    detail: `a worker of this key has a name that begins with '${nameOf(caller)}', in each of its lives`,
  });
}
