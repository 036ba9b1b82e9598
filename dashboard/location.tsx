import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { Observable, useObserved } from './live/observable.js';
import { BASE, readRoute, type Route } from './route.js';

const place = new Observable<Route>(readRoute(location));

addEventListener('popstate', () => place.set(readRoute(location)));

/** Goes to an address of the app. `replace`: one that takes the place of this one, such as a filter being typed. */
export function go(href: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', href);
  else history.pushState(null, '', href);
  place.set(readRoute(location));
  if (!replace) scrollTo(0, 0);
}

export function useRoute(): Route {
  return useObserved(place);
}

/** Lets links of the app change the view without loading the page again; all others are left to the browser. */
export function useLinks(): void {
  useEffect(() => {
    const follow = (event: MouseEvent): void => {
      if (event.defaultPrevented || event.button !== 0) return;
      if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
      const link = event.target instanceof Element ? event.target.closest('a') : null;
      if (link === null || link.target !== '' || link.origin !== location.origin) return;
      if (!link.pathname.startsWith(BASE) || link.hasAttribute('download') || link.hash !== '') return;
      event.preventDefault();
      go(link.pathname + link.search);
    };
    document.addEventListener('click', follow);
    return () => document.removeEventListener('click', follow);
  }, []);
}

/** A heading that is read out when the view changes, and that the page is called after. */
export function Title({ children, name }: { readonly name: string; readonly children?: ComponentChildren }) {
  useEffect(() => {
    title.set(name);
  }, [name]);
  return <h1>{children ?? name}</h1>;
}

export const title = new Observable('');
