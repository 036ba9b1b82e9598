/**
 * A process with a SQLite store that does what its parent tells it, and can be made to stand still just before COMMIT:
 * it says so on its output and blocks, with the transaction open, until a byte arrives on its input.
 */
import { readSync, writeSync } from 'node:fs';
import type { Store } from '../../src/ports/store.js';
import { Session } from '../../src/stores/sqlite/session.js';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.js';
import { perform, type Act } from './act.js';

export type Order =
  | { readonly open: string; readonly now: number }
  | { readonly perform: readonly Act[]; readonly pauses: boolean }
  | { readonly close: true };

let pauses = false;

function standStill(): void {
  if (!pauses) return;
  pauses = false;
  writeSync(1, 'paused\n');
  readSync(0, Buffer.alloc(1));
}

// The last thing before COMMIT is the end of the work that a transaction is made of.
const write = Reflect.get(Session.prototype, 'write') as (
  this: Session,
  work: () => unknown,
) => Promise<unknown>;
Session.prototype.write = function stoppable<T>(this: Session, work: () => T): Promise<T> {
  const stopped = (): T => {
    const result = work();
    standStill();
    return result;
  };
  return write.call(this, stopped) as Promise<T>;
};

// A statement that is its own transaction is put into one that can be stopped.
const writeAlone = Reflect.get(Session.prototype, 'writeAlone');
Session.prototype.writeAlone = function stoppable(this: Session, sql, ...values): boolean {
  if (!pauses) return writeAlone.call(this, sql, ...values);
  this.run('BEGIN IMMEDIATE');
  const written = writeAlone.call(this, sql, ...values);
  if (written) standStill();
  this.run(written ? 'COMMIT' : 'ROLLBACK');
  return written;
};

let store: Store | undefined;

async function obey(order: Order): Promise<unknown> {
  if ('open' in order) {
    const clock = {
      now: () => order.now,
      after: (ms: number, run: () => void) => (setTimeout(run, ms), () => undefined),
    };
    store = await sqliteStore({ path: order.open, clock });
    return null;
  }
  if (store === undefined) throw new Error('nothing is open');
  if ('close' in order) return store.close();
  pauses = order.pauses;
  const replies: unknown[] = [];
  for (const act of order.perform) replies.push(await perform(store, act));
  pauses = false;
  return replies;
}

process.on('message', (order: Order) => {
  void obey(order).then((reply) => process.send?.({ reply }));
});
