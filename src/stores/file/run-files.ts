import { link, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunSnapshot } from '../../contracts/index.js';
import { PawlError } from '../../errors.js';
import type { StoreClock } from '../../ports/clock.js';
import type { Logger } from '../../ports/logger.js';
import { readSnapshot } from '../run-states/read-snapshot.js';
import { canBeId, fileNameOf, isPartial, nextNameOf, nextOf, runIdOf } from './run-file-names.js';
import { syncFolder, writePartial } from './write-durably.js';

/**
 * How long a change may be under way before whoever began it is taken for dead. Making one takes milliseconds; sooner would
 * only complete a change that a stalled process is about to complete itself.
 */
const ABANDONED_MS = 10_000;

/** Enough of a file for its version, which is written first. */
const HEAD_BYTES = 64;
const VERSION = /^\{\s*"version": (\d+),/;

export type RunFilesOptions = {
  readonly folder: string;
  readonly clock: Pick<StoreClock, 'now'>;
  /** Is told of files that should be runs and cannot be read. */
  readonly log: Pick<Logger, 'error'>;
};

/**
 * The files of runs in a folder. Several processes may change the same run, without a lock: the next version is written
 * whole, and put beside the run under a name that only one can take; from then until it is moved into its place nobody else
 * can. A change whose author died in between is whole, and is completed by whoever comes across it.
 */
export class RunFiles {
  readonly #folder: string;
  readonly #clock: Pick<StoreClock, 'now'>;
  readonly #log: Pick<Logger, 'error'>;
  /** Runs that cannot be read, and of which that was said. */
  readonly #told = new Set<string>();

  constructor({ folder, clock, log }: RunFilesOptions) {
    this.#folder = folder;
    this.#clock = clock;
    this.#log = log;
  }

  /** Makes the folder, and sees to what a crash has left in it. */
  async prepare(): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
    for (const name of await readdir(this.#folder)) {
      const next = nextOf(name);
      // A change of what cannot be read is left for whoever repairs that.
      if (next !== null) await this.#unlessUnreadable(next.runId, () => this.#settle(next));
      else if (isPartial(name) && (await this.#isAbandoned(name))) await rm(this.#at(name), { force: true });
    }
  }

  async ids(): Promise<string[]> {
    const entries = await readdir(this.#folder, { withFileTypes: true });
    return entries.flatMap((entry) => (entry.isDirectory() ? [] : (runIdOf(entry.name) ?? [])));
  }

  /** For lists: null also for a run that cannot be read, which is told of and keeps nobody from the others. */
  readUnlessUnreadable(runId: string): Promise<RunSnapshot | null> {
    return this.#unlessUnreadable(runId, () => this.read(runId));
  }

  async read(runId: string): Promise<RunSnapshot | null> {
    if (!canBeId(runId)) return null;
    const path = this.#at(fileNameOf(runId));
    const text = await readFile(path, 'utf8').catch(nullIfMissing);
    return text === null ? null : readSnapshot(text, { runId, where: path });
  }

  /** False: there is such a run already. */
  async insert(snapshot: RunSnapshot): Promise<boolean> {
    const path = this.#at(fileNameOf(snapshot.run_id));
    return this.#put(snapshot, path, () => syncFolder(this.#folder));
  }

  /** False: the version that is there is another, or another change of it is under way. */
  async replace(snapshot: RunSnapshot, version: number): Promise<boolean> {
    const { run_id: runId, version: nextVersion } = snapshot;
    const next = this.#at(nextNameOf(runId, nextVersion));
    let moved = false;
    const put = await this.#put(snapshot, next, async () => {
      // Nobody else can change this version from here on, so what is found now holds until the move.
      moved = (await this.#version(runId)) === version;
      await (moved ? this.#move(runId, nextVersion) : rm(next, { force: true }));
    });
    if (!put) await this.#settle({ runId, version: nextVersion });
    return put && moved;
  }

  /** Writes a snapshot, and gives it a name that must be free. */
  async #put(snapshot: RunSnapshot, path: string, then: () => Promise<void>): Promise<boolean> {
    const { version, ...rest } = snapshot;
    const text = `${JSON.stringify({ version, ...rest }, null, 2)}\n`;
    const partial = await writePartial(path, [text]);
    try {
      await link(partial, path);
      await then();
      return true;
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      throw error;
    } finally {
      await rm(partial, { force: true });
    }
  }

  /** That it is gone means that another has completed it, with what is in it. */
  async #move(runId: string, version: number): Promise<void> {
    await rename(this.#at(nextNameOf(runId, version)), this.#at(fileNameOf(runId))).catch(nullIfMissing);
    await syncFolder(this.#folder);
  }

  /** Completes a change that was abandoned, or removes it if the run has gone another way. */
  async #settle({ runId, version }: { runId: string; version: number }): Promise<void> {
    const name = nextNameOf(runId, version);
    if (!(await this.#isAbandoned(name))) return;
    if ((await this.#version(runId)) === version - 1) await this.#move(runId, version);
    else await rm(this.#at(name), { force: true });
  }

  async #isAbandoned(name: string): Promise<boolean> {
    const found = await stat(this.#at(name)).catch(nullIfMissing);
    return found !== null && this.#clock.now() - found.mtimeMs > ABANDONED_MS;
  }

  /** Null: there is no such run. A file that someone has edited is read whole. */
  async #version(runId: string): Promise<number | null> {
    const file = await open(this.#at(fileNameOf(runId)), 'r').catch(nullIfMissing);
    if (file === null) return null;
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
      const [, version] = VERSION.exec(buffer.toString('utf8', 0, bytesRead)) ?? [];
      return version === undefined ? ((await this.read(runId))?.version ?? null) : Number(version);
    } finally {
      await file.close();
    }
  }

  /** Told of once, until it can be read again. */
  async #unlessUnreadable<T>(runId: string, look: () => Promise<T>): Promise<T | null> {
    try {
      const found = await look();
      this.#told.delete(runId);
      return found;
    } catch (error) {
      if (!(error instanceof PawlError && error.code === 'RUN_STATE_UNREADABLE')) throw error;
      if (!this.#told.has(runId)) this.#log.error('a run cannot be read, and is left out', { runId, error });
      this.#told.add(runId);
      return null;
    }
  }

  #at(name: string): string {
    return join(this.#folder, name);
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

function nullIfMissing(error: unknown): null {
  if (codeOf(error) === 'ENOENT') return null;
  throw error;
}
