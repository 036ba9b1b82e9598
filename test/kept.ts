import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { filesUnder, ROOT } from './source-files.js';

const KEPT = join(ROOT, '.build/kept');
/** Everything that may be built, and what says how. */
const SOURCES = ['src', 'test', 'bench', 'examples', 'scripts'];
const SETTINGS = ['tsconfig.json', 'tsconfig.run.json', 'package-lock.json'];
/** Nobody is at work any more with what was built of older sources before that. */
const OLD_MS = 3_600_000;
/** By folder. */
const asked = new Map<string, Promise<string>>();

/** Gets the folder to fill, and the one that it will be in the end. */
type Build = (folder: string, final: string) => void | Promise<void>;

/**
 * A folder with something built of these very sources. The first to ask builds it, and whoever asks later, in whatever
 * process, finds it whole.
 */
export function kept(what: string, build: Build): Promise<string> {
  const state = stateOfSources();
  const final = join(KEPT, `${state}-${what}`);
  const known = asked.get(final) ?? builtOnce(final, build, state);
  asked.set(final, known);
  return known;
}

async function builtOnce(final: string, build: Build, state: string): Promise<string> {
  if (existsSync(final)) return final;
  const folder = `${final}-${process.pid}`;
  mkdirSync(folder, { recursive: true });
  removeOld(state);
  await build(folder, final);
  try {
    renameSync(folder, final);
  } catch (error) {
    if (!existsSync(final)) throw error;
    // Another process was quicker.
    rmSync(folder, { recursive: true });
  }
  return final;
}

/** What was built of other sources, except by whoever may be at work with it. */
function removeOld(state: string): void {
  for (const name of readdirSync(KEPT).filter((one) => !one.startsWith(state))) {
    const path = join(KEPT, name);
    const builtAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    if (Date.now() - builtAt > OLD_MS) rmSync(path, { recursive: true, force: true });
  }
}

/** Another one after any change. */
function stateOfSources(): string {
  const hash = createHash('sha256');
  for (const file of [...SOURCES.flatMap(filesUnder), ...SETTINGS]) {
    const found = statSync(join(ROOT, file), { throwIfNoEntry: false });
    hash.update(`${file} ${found?.mtimeMs} ${found?.size}\n`);
  }
  return hash.digest('hex').slice(0, 16);
}
