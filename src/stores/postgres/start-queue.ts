/** The last start that was asked for on each client of an application. Settled once it has ended, however it did. */
const last = new WeakMap<object, Promise<unknown>>();

/**
 * Starts on one client, one after the other. With a savepoint the server undoes all that came after it: of two that went at the
 * same time, one that is refused would take away the other, which was told that it is saved.
 */
export function inTurn<T>(client: object, start: () => Promise<T>): Promise<T> {
  const turn = startsOn(client).then(start);
  last.set(
    client,
    turn.catch(() => undefined),
  );
  return turn;
}

/** Until those that have been asked for so far have ended. */
export async function startsOn(client: object): Promise<void> {
  await last.get(client);
}
