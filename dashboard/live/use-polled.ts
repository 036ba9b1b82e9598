import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { held } from './hold.js';

/** Often enough to watch, seldom enough to leave open. */
export const POLL_MS = 5_000;

export type Polled<T> = {
  /** Null until the first answer. What was there stays while a later request fails. */
  readonly data: T | null;
  readonly error: unknown;
  readonly reload: () => void;
};

/**
 * Asks again and again while the tab is seen. `key` says what is asked for: with another one everything begins anew. A
 * tab that is hidden asks nothing, and once it is seen again it asks at once; so it is while a question is open.
 */
export function usePolled<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  everyMs: number | null = POLL_MS,
): Polled<T> {
  const [state, setState] = useState<{ key: string; data: T | null; error: unknown }>({
    key,
    data: null,
    error: null,
  });
  const latest = useRef(load);
  latest.current = load;
  const ask = useRef(() => {});
  const asked = useRef<string | null>(null);

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let underWay: AbortController | null = null;
    /** Something has happened since it was asked. */
    let isStale = false;
    const settle = (change: (before: T | null) => { data: T | null; error: unknown }): void => {
      setState((before) => ({ key, ...change(before.key === key ? before.data : null) }));
      underWay = null;
      if (isStale) run();
      else if (everyMs !== null && !document.hidden) timer = setTimeout(run, everyMs);
    };
    const run = (): void => {
      clearTimeout(timer);
      // Waited for, not cut off: where things happen faster than the server answers, nothing would ever be shown.
      isStale = underWay !== null;
      if (isStale || (asked.current === key && (held.value > 0 || document.hidden))) return;
      asked.current = key;
      const request = new AbortController();
      underWay = request;
      latest.current(request.signal).then(
        (data) => {
          if (!request.signal.aborted) settle(() => ({ data, error: null }));
        },
        (error: unknown) => {
          if (!request.signal.aborted) settle((data) => ({ data, error }));
        },
      );
    };
    const seen = (): void => {
      if (document.hidden) clearTimeout(timer);
      else run();
    };
    const release = held.observe((count) => {
      if (count === 0) run();
    });
    ask.current = run;
    run();
    document.addEventListener('visibilitychange', seen);
    return () => {
      clearTimeout(timer);
      release();
      underWay?.abort();
      document.removeEventListener('visibilitychange', seen);
    };
  }, [key, everyMs]);

  const reload = useCallback(() => ask.current(), []);
  const isCurrent = state.key === key;
  return { data: isCurrent ? state.data : null, error: isCurrent ? state.error : null, reload };
}
