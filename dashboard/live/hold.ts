import { useEffect } from 'preact/hooks';
import { Observable } from './observable.js';

/** How many questions are open. While one is, nothing behind it changes: whoever decides sees what they decide on. */
export const held = new Observable(0);

export function useHold(): void {
  useEffect(() => {
    held.set(held.value + 1);
    return () => held.set(held.value - 1);
  }, []);
}
