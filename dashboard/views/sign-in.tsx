import { useEffect, useState } from 'preact/hooks';
import { Refusal } from '../api/call.js';
import { signIn, type Session } from '../api/session.js';
import { Problem } from '../parts/problem.js';

/** Asks for a key. It is sent once; from then on the browser holds a cookie that no script can read. */
export function SignIn({ onDone }: { readonly onDone: (session: Session) => void }) {
  const [key, setKey] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    document.title = 'Sign in · Pawl';
  }, []);
  const submit = (event: Event): void => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    signIn(key.trim())
      .then(onDone, setError)
      .finally(() => setBusy(false));
  };
  const isWrong = error instanceof Refusal && error.status === 401;
  return (
    <main class="sign-in">
      <h1>Pawl</h1>
      <form onSubmit={submit}>
        <label>
          API key
          <input
            type="password"
            name="key"
            required
            autofocus
            autocomplete="current-password"
            spellcheck={false}
            placeholder="pawl_…"
            value={key}
            aria-invalid={isWrong}
            onInput={(event) => setKey(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="main" disabled={isBusy || key.trim() === ''}>
          {isBusy ? 'Signing in …' : 'Sign in'}
        </button>
      </form>
      {isWrong && (
        <p class="problem" role="alert">
          <strong>This key is not valid.</strong> Check that all of it is there, and that it was not revoked.
        </p>
      )}
      {error !== null && !isWrong && <Problem error={error} />}
      <p class="dim">
        A key says who you are, for which tenant, and what you may do. An admin makes one with{' '}
        <code>pawl keys create</code>.
      </p>
    </main>
  );
}
