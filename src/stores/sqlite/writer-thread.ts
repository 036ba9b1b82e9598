/** What runs in a writer's thread: a connection of its own, and one transaction after the other on it. See writer.ts. */
import { parentPort, workerData } from 'node:worker_threads';
import { openDatabase, type Statement } from './driver.js';
import { LAST_ROW } from './last-row.js';
import { configure } from './settings.js';
import { isBusy } from './store-error.js';
import type { Answer, Order, Outcome } from './writer.js';

/** How often to look whether another process is through. Nobody else is in this thread: it may stand still meanwhile. */
const LOOK_AGAIN_MS = 0.25;
/** What is waited for until then: nobody ever touches it. */
const NOBODY = new Int32Array(new SharedArrayBuffer(4));

const { path, busyMs } = workerData as { path: string; busyMs: number };
const db = await openDatabase(path);
patiently(() => configure(db));

const prepared = new Map<string, Statement>();

function prepare(sql: string): Statement {
  let statement = prepared.get(sql);
  if (statement === undefined) {
    statement = db.prepare(sql);
    prepared.set(sql, statement);
  }
  return statement;
}

/** All of it, or nothing. */
function carryOut({ statements }: Order): Outcome {
  try {
    patiently(() => prepare('BEGIN IMMEDIATE').get());
    const last = Number(prepare(LAST_ROW).get()?.['id']);
    for (const { sql, rows, values, isCounted } of statements) {
      const written = isCounted ? prepare(sql).run(...values, last) : prepare(sql).run(...values);
      if (Number(written.changes) < rows) {
        rollBack();
        return { last: null };
      }
    }
    prepare('COMMIT').get();
    return { last };
  } catch (error) {
    rollBack();
    const { message, errcode, systemErrno } = error as Error & Record<'errcode' | 'systemErrno', unknown>;
    return { failure: { message, errcode, systemErrno } };
  }
}

/** SQLite would wait by itself, at last for a tenth of a second at a time. */
function patiently(run: () => unknown): void {
  for (let looks = busyMs / LOOK_AGAIN_MS; ; looks--) {
    try {
      run();
      return;
    } catch (error) {
      if (!isBusy(error) || looks <= 0) throw error;
      Atomics.wait(NOBODY, 0, 0, LOOK_AGAIN_MS);
    }
  }
}

function rollBack(): void {
  try {
    prepare('ROLLBACK').get();
  } catch {
    // It never began, or SQLite has rolled back by itself. What went wrong is told anyway.
  }
}

const port = parentPort as NonNullable<typeof parentPort>;
const tell = (answer: Answer): void => port.postMessage(answer);

port.on('message', (order: Order | 'close') => {
  if (order !== 'close') {
    tell({ id: order.id, outcome: carryOut(order) });
    return;
  }
  prepared.clear();
  db.close();
  port.close();
});
tell('open');
