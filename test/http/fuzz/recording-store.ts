import type { Store } from '../../../src/ports/store.js';

/** The memory of an answer, and the alert that somebody is refused again and again: both are there to be kept. */
const KEPT = new Set(['reply', 'alert']);

/** What each operation answers when it has changed something else than that. */
const CHANGED: Readonly<Partial<Record<keyof Store, (reply: never, asked: never[]) => boolean>>> = {
  commit: ({ replies }: { replies: readonly { ok: boolean; repeated?: boolean }[] }) =>
    replies.some(({ ok, repeated }) => ok && repeated !== true),
  putMessage: ({ outcome }: { outcome: string }) => outcome === 'kept',
  putDlqItem: ({ saved }: { saved: boolean }) => saved,
  putSchedule: ({ saved }: { saved: boolean }) => saved,
  deleteSchedule: ({ deleted }: { deleted: boolean }) => deleted,
  putRecord: ({ saved }: { saved: boolean }, [record]: { kind: string }[]) =>
    saved && !KEPT.has(record?.kind ?? ''),
  deleteRecord: ({ deleted }: { deleted: boolean }, [ref]: { kind: string }[]) =>
    deleted && !KEPT.has(ref?.kind ?? ''),
  pauseQueue: () => true,
  hold: ({ changed }: { changed: number }) => changed > 0,
  release: ({ changed }: { changed: number }) => changed > 0,
  settleOutbox: (_reply: unknown, [outcomes]: unknown[][]) => (outcomes?.length ?? 0) > 0,
  putEffect: ({ first }: { first: boolean }) => first,
};

/** A store that counts what changes it. */
export function recordingStore(store: Store): { readonly store: Store; readonly changes: () => number } {
  let changes = 0;
  const recording = new Proxy(store, {
    get(target, name: keyof Store) {
      const method = target[name] as (...asked: never[]) => Promise<never>;
      const hasChanged = CHANGED[name];
      if (hasChanged === undefined) return method;
      return async (...asked: never[]) => {
        const reply = await method(...asked);
        if (hasChanged(reply, asked)) changes += 1;
        return reply;
      };
    },
  });
  return { store: recording, changes: () => changes };
}
