import { useMemo, useState } from 'preact/hooks';
import { cutText, jsonText } from '../cut-text.js';
import { Copy } from './id.js';

const SHORT = { lines: 24, characters: 2_400 };

/** A value as JSON. What is long is cut until somebody asks for all of it. */
export function Json({ value, what }: { readonly value: unknown; readonly what: string }) {
  const text = useMemo(() => jsonText(value), [value]);
  return <LongText text={text} what={what} />;
}

export function LongText({ text, what }: { readonly text: string; readonly what: string }) {
  const [showsAll, setShowsAll] = useState(false);
  const cut = useMemo(() => cutText(text, SHORT), [text]);
  return (
    <div class="json">
      <Copy value={text} what={what} />
      <pre tabIndex={0} aria-label={what}>
        {showsAll ? text : cut.text}
        {cut.left > 0 && !showsAll && '…'}
      </pre>
      {cut.left > 0 && (
        <button type="button" class="plain" onClick={() => setShowsAll(!showsAll)}>
          {showsAll ? 'Show less' : `Show all (${cut.left.toLocaleString('en')} more characters)`}
        </button>
      )}
    </div>
  );
}
