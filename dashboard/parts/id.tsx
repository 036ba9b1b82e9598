import { useState } from 'preact/hooks';

type Props = { readonly value: string; readonly href?: string; readonly wraps?: boolean };

/** An id that leads to what it names, if there is a page of it, and can be copied. */
export function Id({ value, href, wraps = false }: Props) {
  return (
    <span class={wraps ? 'id wraps' : 'id'}>
      {href === undefined ? (
        <code title={value}>{value}</code>
      ) : (
        <a href={href} title={value}>
          <code>{value}</code>
        </a>
      )}
      <Copy value={value} what={value} />
    </span>
  );
}

export function Copy({ value, what }: { readonly value: string; readonly what: string }) {
  const [state, setState] = useState<'idle' | 'copied' | 'failed'>('idle');
  const copy = (): void => {
    // Only where the page came over a safe connection is there a clipboard.
    const done = (navigator.clipboard as Clipboard | undefined)?.writeText(value);
    if (done === undefined) return setState('failed');
    done.then(
      () => setState('copied'),
      () => setState('failed'),
    );
  };
  const label = { idle: 'copy', copied: 'copied', failed: 'cannot copy' }[state];
  return (
    <button
      type="button"
      class="copy"
      aria-label={state === 'idle' ? `Copy ${what}` : label}
      title={label}
      data-state={state}
      onClick={copy}
      onBlur={() => setState('idle')}
    >
      {state === 'idle' ? (
        <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
          <path d="M4 4 H10.5 V11 H4 Z M2 8.5 H1.5 V1 H8 V2" class="stroke" />
        </svg>
      ) : (
        label
      )}
    </button>
  );
}
