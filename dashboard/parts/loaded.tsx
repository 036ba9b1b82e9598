import type { ComponentChildren } from 'preact';
import { Unreachable } from '../api/call.js';
import type { Polled } from '../live/use-polled.js';
import { Problem } from './problem.js';

type Props<T> = {
  readonly of: Polled<T>;
  /** What is being loaded, for those who wait. */
  readonly what: string;
  readonly children: (data: T) => ComponentChildren;
};

/** What was loaded; that it is being loaded; or why it could not be. A later failure leaves what is there. */
export function Loaded<T>({ of: { data, error, reload }, what, children }: Props<T>) {
  // That the connection is lost stands above every view already.
  const isShown = error !== null && !(data !== null && error instanceof Unreachable);
  return (
    <>
      {isShown && <Problem error={error} retry={reload} />}
      {data === null && error === null && (
        <p class="dim loading" role="status">
          Loading {what} …
        </p>
      )}
      {data !== null && children(data)}
    </>
  );
}
