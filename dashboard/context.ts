import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Alert } from './api/alerts.js';
import type { Session } from './api/session.js';
import type { Polled } from './live/use-polled.js';

/** What every view may look at. */
export type Shared = {
  readonly session: Session;
  /** Those that are raised. Asked for once for the whole page: the navigation and the views never differ. */
  readonly alerts: Polled<readonly Alert[]>;
};

export const SharedContext = createContext<Shared | null>(null);

export function useShared(): Shared {
  const shared = useContext(SharedContext);
  if (shared === null) throw new Error('no view stands outside of the page');
  return shared;
}
