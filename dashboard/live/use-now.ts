import { serverNow } from './connection.js';
import { Observable, useObserved } from './observable.js';

/** One clock for all ages on the page, so that they change together. */
const seconds = new Observable(serverNow());

setInterval(() => {
  if (!document.hidden) seconds.set(serverNow());
}, 1_000);

/** The server's time, told every second. */
export function useNow(): number {
  return useObserved(seconds);
}
