import type { Logger } from '../index.js';

const OF_MEMORY = 'persistent storage is not enabled';

/** A logger for all that one run opens: where its job and its state are both in memory, that is told once. */
export function warnedOnce(log: Logger): Logger {
  let hasWarned = false;
  return {
    debug: (message, fields) => log.debug(message, fields),
    info: (message, fields) => log.info(message, fields),
    warn(message, fields) {
      const isOfMemory = message.startsWith(OF_MEMORY);
      if (!(isOfMemory && hasWarned)) log.warn(message, fields);
      hasWarned ||= isOfMemory;
    },
    error: (message, fields) => log.error(message, fields),
  };
}
