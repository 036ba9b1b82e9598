import { link, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunSnapshot } from '../../contracts/index.js';
import type { StoreClock } from '../../ports/clock.js';
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

/**
 * The files of runs in a folder. Several processes may change the same run, without a lock: the next version is written
 * whole, and put beside the run under a name that only one can take; from then until it is moved into its place nobody else
 * can. A change whose author died in between is whole, and is completed by whoever comes across it.
 */
export class RunFiles {
  readonly #folder: string;
  readonly #clock: Pick<StoreClock, 'now'>;

  constructor(folder: string, clock: Pick<StoreClock, 'now'>) {
    this.#folder = folder;
    this.#clock = clock;
  }

  /** Makes the folder, and sees to what a crash has left in it. */
  async prepare(): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
    for (const name of await readdir(this.#folder)) {
      const next = nextOf(name);
      if (next !== null) await this.#settle(next);
      else if (isPartial(name) && (await this.#isAbandoned(name))) await rm(this.#at(name), { force: true });
    }
  }

  async ids(): Promise<string[]> {
    return (await readdir(this.#folder)).map(runIdOf).filter((id) => id !== null);
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
