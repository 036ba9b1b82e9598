import type { Store } from '../ports/store.js';

/** Wake-ups within this process. */
export function localWakeUps(): Pick<Store, 'wake' | 'listen'> {
  const listeners = new Set<(lanes: readonly string[]) => void>();
  return {
    wake(lanes) {
      for (const hear of listeners) hear(lanes);
    },
    listen(hear) {
      listeners.add(hear);
      return async () => {
        listeners.delete(hear);
      };
    },
  };
}
