import { HIT_KINDS, type HitKind } from '../../src/sim/hits.js';
import type { Hunted } from '../../src/sim/bugs/hunt.js';
import type { Summary } from '../../src/sim/run-seeds.js';
import type { ChaosResult } from '../../test/chaos/chaos.js';
import type { Machine } from './machine.js';

export type Run = {
  readonly date: string;
  readonly commit: string;
  readonly isClean: boolean;
  readonly command: string;
  readonly machine: Machine;
  /** The first seed, and for how long seeds were run. */
  readonly from: number;
  readonly seconds: number;
  readonly seeds: Pick<Summary, 'seeds' | 'decisions' | 'cpuSeconds' | 'medianDecisions' | 'hits'> & {
    readonly failures: readonly number[];
  };
  readonly chaos: readonly ChaosResult[];
  /** Null: bugs were not hunted in this run. */
  readonly hunted: Hunted | null;
};

const HEADINGS: Readonly<Record<HitKind, string>> = {
  fault: 'Faults',
  feature: 'Features and operations',
  event: 'Events',
  command: 'Commands',
  call: 'Calls to the store',
  ending: 'Ends of jobs',
};

/** docs/reliability.md: what was run, and nothing else. */
export function reliabilityPage(run: Run): string {
  const { machine, commit, isClean } = run;
  return [
    '# Reliability',
    '',
    'What one run of the simulator and of chaos did and found, long or short. Written by the run itself (`npm run reliability`); what is checked,',
    'and how, is in [simulator.md](simulator.md) and [chaos.md](chaos.md).',
    '',
    '| | |',
    '| --- | --- |',
    `| date | ${run.date} |`,
    `| commit | ${commit}${isClean ? '' : ', with changes that are not in it'} |`,
    `| command | \`${run.command}\` |`,
    `| machine | ${machine.cores} cores (${machine.processor}), ${machine.memoryGb} GB, ${machine.system} |`,
    `| versions | Node ${[machine.node, ...run.chaos.map(({ version }) => version)].join(', ')} |`,
    `| verdict | ${holds(run) ? 'every invariant held' : '**something broke: see below**'} |`,
    '',
    ...seedLines(run),
    ...run.chaos.flatMap(chaosLines),
    ...bugLines(run.hunted),
    ...hitLines('What schedules met', run.seeds.hits, HIT_KINDS),
    ...run.chaos.flatMap(({ store, hits }) =>
      hitLines(`What the logs of chaos on ${store} hold`, hits, ['event', 'command', 'ending']),
    ),
  ].join('\n');
}

export function holds({ seeds, chaos, hunted }: Run): boolean {
  return (
    seeds.failures.length === 0 &&
    chaos.every(({ breaches }) => breaches.length === 0) &&
    (hunted?.isEnough ?? true)
  );
}

function seedLines({ seeds, seconds, from }: Run): string[] {
  const perSecond = Math.round(seeds.decisions / Math.max(seeds.cpuSeconds, 0.001));
  return [
    '## Simulator',
    '',
    '| | |',
    '| --- | --- |',
    `| time | ${seconds} s on every core |`,
    `| seeds | ${count(seeds.seeds)}, the first of them ${from} |`,
    `| decisions | ${count(seeds.decisions)} |`,
    `| decisions per second of processor time of one core | ${count(perSecond)} |`,
    `| median schedule | ${count(seeds.medianDecisions)} decisions |`,
    `| failing seeds | ${seeds.failures.length === 0 ? 'none' : seeds.failures.join(', ')} |`,
    '| invariants | 1 to 27 after each step or at the end of each schedule; 28 below |',
    '',
  ];
}

function chaosLines(result: ChaosResult): string[] {
  const { store, acknowledged, faults, outside, limits, breaches } = result;
  return [
    `## Chaos on ${store}`,
    '',
    '| | |',
    '| --- | --- |',
    `| time | ${count(result.seconds)} s, ${result.workers} workers and a server, seed ${result.seed} |`,
    `| jobs | ${count(result.jobs)} |`,
    `| faults | ${Object.entries(faults)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([what, times]) => `${count(times)} × ${what}`)
      .join(', ')} |`,
    `| acknowledged over HTTP | ${count(acknowledged.starts)} starts, ${count(acknowledged.signals)} signals, ${count(acknowledged.cancels)} cancels, ${count(acknowledged.requeues)} requeues; ${count(result.httpRetries)} requests were sent again |`,
    `| the outside saw | ${count(outside.entered)} bodies entered, ${count(outside.happened)} effects happen, ${count(outside.late)} of them after they had been declared not to have |`,
    `| limits | ${count(limits.looks)} looks, a key used to the full in ${count(limits.full)} |`,
    '| invariants | 1 to 5, 7 to 11, 13, 15 to 25, 27, 28 |',
    `| breaches | ${breaches.length === 0 ? 'none' : breaches.length} |`,
    ...breaches.slice(0, 20).map(({ invariant, problem }) => `| invariant ${invariant} | ${problem} |`),
    '',
  ];
}

function bugLines(hunted: Hunted | null): string[] {
  if (hunted === null)
    return [
      '## Planted bugs',
      '',
      'Not part of this run: [simulator.md](simulator.md#figures) has the last figures.',
      '',
    ];
  const { bugs, seeds, survivors } = hunted;
  return [
    '## Planted bugs',
    '',
    `${bugs - survivors.length} of ${bugs} were found within ${count(seeds)} seeds each. Survivors: ${
      survivors.length === 0 ? 'none' : survivors.map((name) => `\`${name}\``).join(', ')
    }.`,
    '',
  ];
}

function hitLines(
  title: string,
  hits: Readonly<Record<string, number>>,
  kinds: readonly HitKind[],
): string[] {
  const tables = kinds.flatMap((kind) => {
    const own = Object.entries(hits).filter(([key]) => key.startsWith(`${kind} `));
    if (own.length === 0) return [];
    return [
      `| ${HEADINGS[kind].toLowerCase()} | times |`,
      '| --- | ---: |',
      ...own.map(([key, times]) => `| ${key.slice(kind.length + 1)} | ${count(times)} |`),
      '',
    ];
  });
  return [`## ${title}`, '', ...tables];
}

const count = (value: number): string => value.toLocaleString('en-GB');
