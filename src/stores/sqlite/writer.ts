import { existsSync } from 'node:fs';
import { resolve as wholePath } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Batch } from './batched.js';

/** One transaction. Values of a counted statement count from the last row of a job. */
export type Order = {
  readonly id: number;
  readonly statements: readonly (Batch & { readonly isCounted: boolean })[];
};

/** The last row before those that were written; null: a row was in the way, and nothing was written. Or what SQLite said. */
export type Outcome =
  | { readonly last: number | null }
  | {
      readonly failure: {
        readonly message: string;
        readonly errcode: unknown;
        readonly systemErrno: unknown;
      };
    };

export type Answer = 'open' | { readonly id: number; readonly outcome: Outcome };

type Waiting = { readonly resolve: (last: number | null) => void; readonly reject: (error: Error) => void };

export type WriterOptions = {
  readonly path: string;
  /** What runs in the thread. */
  readonly script: URL;
  /** For how long it waits until another process's transaction is over. */
  readonly busyMs: number;
};

/**
 * A thread with a connection of its own, which carries out transactions as they are handed to it, one after the other: this thread's event
 * loop goes on meanwhile. It keeps the process alive only while it has something to do.
 */
export class Writer {
  readonly #thread: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #orders = 0;
  #isOver = false;
  /** Once its thread is gone, and nobody waits for it any more. */
  readonly #ended: Promise<void>;

  private constructor(thread: Worker) {
    this.#thread = thread;
    this.#ended = new Promise((ended) => {
      // Behind the answers that it has given before, and only then is what is left unknown.
      thread.once('exit', () => {
        setImmediate(() => {
          this.#end();
          ended();
        });
      });
    });
  }

  /** Null: there can be no thread here, or it could not open the database. */
  static open({ path, script, busyMs }: WriterOptions): Promise<Writer | null> {
    const thread = begin(script, { path: wholePath(path), busyMs });
    if (thread === null) return Promise.resolve(null);
    const writer = new Writer(thread);
    return new Promise((opened) => {
      // Node hands over what has come, and what comes meanwhile, up to a thousand messages: the event loop is to have its turn in between.
      thread.on('message', (answer: Answer) => {
        if (answer === 'open') {
          thread.unref();
          opened(writer);
        } else setImmediate(() => writer.#hear(answer));
      });
      // An exit follows.
      thread.on('error', () => undefined);
      void writer.#ended.then(() => opened(null));
    });
  }

  /** It takes nothing more: it was closed, or its thread has ended. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * What it has written is durable when this returns: the last row before it. Null: a row was in the way, and nothing was written; or the
   * thread has ended, and nobody knows.
   */
  save(statements: Order['statements']): Promise<number | null> {
    if (this.#isOver) return Promise.resolve(null);
    const id = (this.#orders += 1);
    return new Promise((resolve, reject) => {
      if (this.#waiting.size === 0) this.#thread.ref();
      this.#waiting.set(id, { resolve, reject });
      const order: Order = { id, statements };
      this.#thread.postMessage(order);
    });
  }

  /** Once all that it was handed is done. It takes nothing more from the moment it is asked to. */
  close(): Promise<void> {
    if (!this.#isOver) {
      this.#isOver = true;
      this.#thread.ref();
      this.#thread.postMessage('close');
    }
    return this.#ended;
  }

  #hear({ id, outcome }: Exclude<Answer, 'open'>): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (this.#waiting.size === 0 && !this.#isOver) this.#thread.unref();
    if ('last' in outcome) waiting?.resolve(outcome.last);
    else {
      const { message, ...codes } = outcome.failure;
      waiting?.reject(Object.assign(new Error(message), codes));
    }
  }

  #end(): void {
    this.#isOver = true;
    for (const { resolve } of this.#waiting.values()) resolve(null);
    this.#waiting.clear();
  }
}

/** Null where there is no file to run, as in an application that is bundled, or the process may have no threads. */
function begin(script: URL, workerData: { readonly path: string; readonly busyMs: number }): Worker | null {
  if (!existsSync(script)) return null;
  try {
    // What the application has its own threads load is nothing to this one.
    return new Worker(script, { workerData, execArgv: [] });
  } catch {
    // All is written in this thread, as it was before.
    return null;
  }
}
