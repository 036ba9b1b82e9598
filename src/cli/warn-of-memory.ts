import { jsonLogger } from '../client/console-logger.js';
import { isInMemory } from '../client/open-run-states.js';
import type { Console } from './console.js';

/** Commands log nothing but errors. That what they say is kept nowhere is told all the same, once. */
export function warnOfMemory({ err }: Pick<Console, 'err'>, ...urls: readonly (string | undefined)[]): void {
  if (!urls.some((url) => url !== undefined && isInMemory(url))) return;
  jsonLogger({ level: 'warn', write: err }).warn(
    'persistent storage is not enabled: what is in memory is gone when this command ends',
  );
}
