import { Refusal, Unreachable } from '../api/call.js';
import { WrongShape } from '../api/shape.js';
import { Shape } from './mark.js';

/** What went wrong, and what to do now. */
export function Problem({ error, retry }: { readonly error: unknown; readonly retry?: () => void }) {
  const { heading, advice } = explain(error);
  const message = error instanceof Error ? error.message : String(error);
  return (
    <div class="problem" role="alert">
      <p>
        <Shape of="alarm" /> <strong>{heading}</strong>
      </p>
      <p class="message">{message}</p>
      {advice !== '' && <p>{advice}</p>}
      {error instanceof Refusal && (
        <p class="dim">
          <code>{error.code}</code>
          {error.requestId !== null && (
            <>
              {' · request '}
              <code>{error.requestId}</code>
            </>
          )}
        </p>
      )}
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

function explain(error: unknown): { heading: string; advice: string } {
  if (error instanceof Unreachable) {
    return {
      heading: 'Connection lost',
      advice: 'It is tried again by itself. If it lasts, look whether the server runs, and at the way to it.',
    };
  }
  if (error instanceof WrongShape) {
    return {
      heading: 'This page does not understand the server',
      advice: 'They may be of different versions: load the page again.',
    };
  }
  if (!(error instanceof Refusal)) return { heading: 'Something is wrong with this page', advice: '' };
  if (error.code === 'EFFECTS_HAPPENED') return { heading: 'It would happen twice', advice: '' };
  switch (error.status) {
    case 401:
      return { heading: 'You are not signed in', advice: '' };
    case 403:
      return { heading: 'Your key may not do this', advice: '' };
    case 404:
      return { heading: 'There is no such thing', advice: '' };
    case 409:
      return {
        heading: 'It is not so any more',
        advice:
          'Somebody else has done this already, or it has gone on meanwhile. Look at how it stands now.',
      };
    case 503:
      return { heading: 'The server cannot work at the moment', advice: 'It is tried again by itself.' };
    default:
      return { heading: 'The server has refused this', advice: '' };
  }
}
