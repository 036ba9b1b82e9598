import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, totalmem } from 'node:os';

/** Where a run was made. Neither the machine's name nor a path of it: only what figures depend on. */
export type Machine = {
  readonly cores: number;
  readonly processor: string;
  readonly memoryGb: number;
  readonly system: string;
  readonly node: string;
};

export function thisMachine(): Machine {
  return {
    cores: availableParallelism(),
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    memoryGb: Math.round(totalmem() / 1e9),
    system: `${process.platform} ${process.arch}`,
    node: process.versions.node,
  };
}

/** `isClean`: what ran is what that commit has. The page itself may differ: it is about to be written. */
export function revision(page: string): { readonly commit: string; readonly isClean: boolean } {
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim();
  const changed = git('status', '--porcelain')
    .split('\n')
    .filter((line) => line !== '' && !line.endsWith(page));
  return { commit: git('rev-parse', 'HEAD'), isClean: changed.length === 0 };
}
