import { useEffect, useState } from 'preact/hooks';
import { Refusal } from './api/call.js';
import { readSession, type Session } from './api/session.js';
import { signedOut } from './live/connection.js';
import { useObserved } from './live/observable.js';
import { POLL_MS } from './live/use-polled.js';
import { useLinks } from './location.js';
import { Page } from './page.js';
import { Problem } from './parts/problem.js';
import { SignIn } from './views/sign-in.js';

type State =
  | { readonly at: 'asking' | 'out' }
  | { readonly at: 'in'; readonly session: Session }
  | { readonly at: 'failed'; readonly error: unknown };

/** Whoever is signed in sees the page; whoever is not is asked for a key. */
export function App() {
  useLinks();
  const [state, setState] = useState<State>({ at: 'asking' });
  const [tries, setTries] = useState(0);
  const refusals = useObserved(signedOut);

  useEffect(() => {
    const request = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    readSession(request.signal).then(
      (session) => setState({ at: 'in', session }),
      (error: unknown) => {
        if (request.signal.aborted) return;
        if (error instanceof Refusal && error.status === 401) return setState({ at: 'out' });
        // What is on the page stays there while the server is away.
        setState((before) => (before.at === 'in' ? before : { at: 'failed', error }));
        timer = setTimeout(() => setTries((before) => before + 1), POLL_MS);
      },
    );
    return () => {
      request.abort();
      clearTimeout(timer);
    };
  }, [tries]);

  // A key may be revoked while the page is open.
  useEffect(() => {
    if (refusals > 0) setState({ at: 'out' });
  }, [refusals]);

  switch (state.at) {
    case 'asking':
      return <p class="dim alone">Loading …</p>;
    case 'failed':
      return (
        <div class="alone">
          <Problem error={state.error} retry={() => setTries(tries + 1)} />
        </div>
      );
    case 'out':
      return <SignIn onDone={(session) => setState({ at: 'in', session })} />;
    case 'in':
      return <Page session={state.session} />;
  }
}
