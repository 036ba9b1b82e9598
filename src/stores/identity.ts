import type { Identity } from '../ports/store.js';

/** Whether one of them belongs to a job other than the one that it may be taken from. */
export function isTaken(identities: readonly Identity[], owners: readonly (string | null)[]): boolean {
  return owners.some((owner, index) => owner !== null && owner !== identities[index]?.replaces);
}
