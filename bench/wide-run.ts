/**
 * A workflow of 20 steps on 200 hosts of this machine, with its state kept in each kind of store: how long it takes, and how
 * often the state is written. `npm run bench:runner`; `-- file` for one of them.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openRunStates } from '../src/client/open-run-states.js';
import { systemClock as clock } from '../src/client/system-clock.js';
import type { RunStateStore } from '../src/index.js';
import { apply, loadWorkflowText } from '../src/runner/index.js';

const STEPS = 20;
const HOSTS = 200;

const hosts = Array.from({ length: HOSTS }, (_, n) => `h${n}: { connection: local }`).join(', ');
const steps = Array.from(
  { length: STEPS },
  (_, n) => `  - { name: s${n}, action: cmd.run, args: { cmd: [echo, '{{ host.name }}'] } }`,
);
const text = ['version: 1', 'name: wide', `inventory: { hosts: { ${hosts} } }`, 'steps:', ...steps].join(
  '\n',
);

/** The least that 4,000 processes cost: no state at all. */
async function measure(name: string, url: string | null, folder: string): Promise<void> {
  const opened = url === null ? null : await openRunStates(url, { clock, log: console });
  let [writes, bytes] = [0, 0];
  const counted: RunStateStore | null = opened && {
    ...opened,
    updateRun(patch, version) {
      writes += 1;
      bytes += JSON.stringify(patch).length;
      return opened.updateRun(patch, version);
    },
  };
  const loaded = await loadWorkflowText(text);
  const begun = clock.elapsed();
  const { status, run } = await apply(loaded, {
    store: `sqlite:${join(folder, `${name}.db`)}`,
    runs: counted ?? false,
    parallel: 50,
  });
  const seconds = (clock.elapsed() - begun) / 1_000;
  const size = run === null ? 0 : JSON.stringify(run).length;
  console.log(
    `${name.padEnd(8)} ${status}  ${seconds.toFixed(1)} s  ${writes} writes (${(writes / seconds).toFixed(0)}/s), ` +
      `patches ${(bytes / 1e6).toFixed(1)} MB in all, state at the end ${(size / 1e6).toFixed(2)} MB`,
  );
  await opened?.close();
}

const folder = mkdtempSync(join(tmpdir(), 'pawl-wide-'));
const STORES: Readonly<Record<string, string | null>> = {
  none: null,
  memory: 'memory:',
  file: `file:${join(folder, 'runs')}`,
  sqlite: `sqlite:${join(folder, 'runs.db')}`,
};
try {
  const [only] = process.argv.slice(2);
  for (const [name, url] of Object.entries(STORES)) {
    if (only === undefined || only === name) await measure(name, url, folder);
  }
} finally {
  rmSync(folder, { recursive: true });
}
