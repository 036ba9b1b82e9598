import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { isFinal } from '../api/call.js';
import { useHold } from '../live/hold.js';
import { Problem } from './problem.js';

type Props<T> = {
  /** On the button, and once more where it is confirmed. */
  readonly label: string;
  /** The question, with the name of what it is about. */
  readonly title: string;
  /** Exactly what will happen, and fields for what it takes. */
  readonly children: ComponentChildren;
  /** `once`: a key of this act, the same again after an answer that was lost. */
  readonly act: (once: string) => Promise<T>;
  /** What the server has answered, in words. */
  readonly answer: (result: T) => ComponentChildren;
  readonly isDangerous?: boolean;
  /** What is still missing; null if nothing is. */
  readonly missing?: string | null;
};

/** A button that asks before it acts, and then shows what came of it. The view is asked for anew once it is closed. */
export function Action<T>(props: Props<T>) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" class={props.isDangerous ? 'danger' : ''} onClick={() => setOpen(true)}>
        {props.label}
      </button>
      {isOpen && <Asking {...props} close={() => setOpen(false)} />}
    </>
  );
}

type State<T> =
  | { readonly at: 'asking' | 'acting' }
  | { readonly at: 'refused'; readonly error: unknown }
  | { readonly at: 'done'; readonly result: T };

function Asking<T>({ close, ...props }: Props<T> & { readonly close: () => void }) {
  const { label, title, children, act, answer, isDangerous = false, missing = null } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const [state, setState] = useState<State<T>>({ at: 'asking' });
  const once = useRef(newKey());
  useHold();
  useEffect(() => dialog.current?.showModal(), []);

  const submit = (event: Event): void => {
    event.preventDefault();
    if (missing !== null || state.at === 'acting') return;
    setState({ at: 'acting' });
    act(once.current).then(
      (result) => setState({ at: 'done', result }),
      (error: unknown) => {
        // Whoever was refused may change what they ask for; it is another act then. Otherwise this one may have been done.
        if (isFinal(error)) once.current = newKey();
        setState({ at: 'refused', error });
      },
    );
  };
  const isOver = state.at === 'done';
  return (
    <dialog ref={dialog} aria-labelledby="asked" onClose={close}>
      <form onSubmit={submit}>
        <h2 id="asked">{title}</h2>
        {isOver ? <div role="status">{answer(state.result)}</div> : children}
        {state.at === 'refused' && <Problem error={state.error} />}
        {missing !== null && !isOver && <p class="dim">{missing}</p>}
        <div class="buttons">
          {!isOver && (
            <button
              type="submit"
              class={isDangerous ? 'danger main' : 'main'}
              disabled={missing !== null || state.at === 'acting'}
            >
              {state.at === 'acting' ? 'Working …' : label}
            </button>
          )}
          <button type="button" onClick={() => dialog.current?.close()}>
            {isOver || state.at === 'refused' ? 'Close' : 'Leave it'}
          </button>
        </div>
      </form>
    </dialog>
  );
}

/** Without `randomUUID`, which browsers have on safe connections only. */
function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
}
