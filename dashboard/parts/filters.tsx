import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { go } from '../location.js';
import { hrefOf, type View } from '../route.js';

type Query = Readonly<Record<string, string>>;

/** Filters are in the address, so that what is seen can be sent to somebody. Another filter begins at the first page. */
export function setFilter(view: View, query: Query, name: string, value: string): void {
  go(hrefOf(view, { query: { ...query, [name]: value, cursor: null } }));
}

export function Filters({ children }: { readonly children: ComponentChildren }) {
  return (
    <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      {children}
    </form>
  );
}

type ChoiceProps = {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly onChange: (value: string) => void;
};

export function Choice({ label, value, options, onChange }: ChoiceProps) {
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map(([option, shown]) => (
          <option key={option} value={option}>
            {shown}
          </option>
        ))}
      </select>
    </label>
  );
}

type TextProps = {
  readonly label: string;
  readonly value: string;
  readonly hint?: string;
  readonly onEnter: (value: string) => void;
  /** Leads away: only Enter means it. */
  readonly isJump?: boolean;
};

/** Taken when it is left, or by Enter: not with every key. */
export function TextFilter({ label, value, hint = '', onEnter, isJump = false }: TextProps) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  const enter = (): void => {
    if (typed.trim() !== value) onEnter(typed.trim());
  };
  return (
    <label>
      {label}
      <input
        type="search"
        value={typed}
        placeholder={hint}
        spellcheck={false}
        autocomplete="off"
        onInput={(event) => setTyped(event.currentTarget.value)}
        onBlur={isJump ? undefined : enter}
        onKeyDown={(event) => {
          if (event.key === 'Enter') enter();
        }}
      />
    </label>
  );
}

type PagesProps = { readonly view: View; readonly query: Query; readonly next: string | null };

/** Pages go one way; the browser's own button goes back. */
export function Pages({ view, query, next }: PagesProps) {
  const isFirst = query['cursor'] === undefined;
  if (isFirst && next === null) return null;
  return (
    <nav class="pages" aria-label="Pages">
      {!isFirst && <a href={hrefOf(view, { query: { ...query, cursor: null } })}>First page</a>}
      {next !== null && <a href={hrefOf(view, { query: { ...query, cursor: next } })}>Next page</a>}
      {next === null && <span class="dim">This is the last page.</span>}
    </nav>
  );
}
