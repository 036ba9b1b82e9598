import type { SubjectId } from '../subjects.js';
import type { Figures, Pace, Scale, Workload } from '../workloads/workload.js';
import type { Databases, StoreKind } from './databases.js';
import { runApart, type Apart } from './run-apart.js';

export type Subject = Apart & {
  readonly id: SubjectId;
  /** What it keeps its jobs in; or the addresses of two places that nobody has used. */
  readonly on: StoreKind | (() => readonly [string, string]);
  /** Why it does not do a workload; null: it does. */
  readonly cannot?: (workload: Workload) => string | null;
  /** A system that takes a hundred times as long is asked for less. */
  readonly share?: Readonly<Partial<Record<Workload['id'], number>>>;
};

/** What the rounds of one subject found. `reason`: why there are none. */
export type Found = {
  readonly subject: SubjectId;
  readonly workload: Workload['id'];
  readonly size: number;
  readonly figures: readonly Figures[];
  readonly reason: string | null;
};

export type Asked = {
  readonly workload: Workload;
  readonly subjects: readonly Subject[];
  readonly rounds: number;
  readonly scale: Scale;
};

/** Nothing takes so long, unless it hangs. */
const LIMIT_MS: Readonly<Record<Scale, number>> = { tiny: 60_000, small: 300_000, full: 1_200_000 };

/**
 * The same time for all: what is compared is not how fast a process warms up. V8 goes on compiling what runs often, and where one
 * thing is done after the other that takes longer to show: on Postgres a step takes 0.8 ms among the first three thousand, 0.5
 * behind the first ten thousand, and no less later. A function is compiled for good once it has been called three thousand times.
 */
const WARM_UP_MS: Readonly<Record<Pace, Readonly<Record<Scale, number>>>> = {
  'many at once': { tiny: 0, small: 1_000, full: 3_000 },
  'one by one': { tiny: 0, small: 1_000, full: 9_000 },
  'now and then': { tiny: 0, small: 1_000, full: 30_000 },
};

/** Every subject in every round, in turns: whatever else the machine does falls on all of them. */
export async function runRounds(
  databases: Databases,
  { workload, subjects, rounds, scale }: Asked,
  tell: (line: string) => void,
): Promise<Found[]> {
  const found = new Map<SubjectId, { figures: Figures[]; reason: string | null }>();
  for (const { id, cannot } of subjects) found.set(id, { figures: [], reason: cannot?.(workload) ?? null });
  const size = (subject: Subject) => Math.ceil(workload.sizes[scale] * (subject.share?.[workload.id] ?? 1));
  const turns = workload.ownRounds ? 1 : rounds;
  const warmUpMs = WARM_UP_MS[workload.pace][scale];
  for (let round = 1; round <= turns; round++) {
    for (const subject of subjects) {
      const entry = found.get(subject.id);
      if (!entry || entry.reason !== null) continue;
      const from = performance.now();
      const urls = await urlsOf(databases, subject);
      const assignment = { role: 'measure', subject: subject.id, workload: workload.id } as const;
      const answer = await runApart(
        { ...assignment, urls, size: size(subject), rounds, warmUpMs },
        { limitMs: LIMIT_MS[scale], ...subject },
      );
      if (typeof subject.on === 'string') await databases.drop(urls);
      if ('reason' in answer) entry.reason = answer.reason;
      else entry.figures.push(...answer.figures);
      const seconds = ((performance.now() - from) / 1_000).toFixed(1);
      const said = 'reason' in answer ? answer.reason : firstOf(answer.figures);
      tell(`${workload.id} ${round}/${turns}  ${subject.id}: ${said}  (${seconds} s)`);
    }
  }
  return subjects.map((subject) => ({
    subject: subject.id,
    workload: workload.id,
    size: size(subject),
    ...(found.get(subject.id) ?? { figures: [], reason: 'not asked' }),
  }));
}

async function urlsOf(databases: Databases, { on }: Subject): Promise<readonly [string, string]> {
  return typeof on === 'string' ? databases.pair(on) : on();
}

function firstOf(figures: readonly Figures[]): string {
  const [name, value] = Object.entries(figures.at(-1) ?? {})[0] ?? ['nothing', 0];
  return `${value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3)} ${name}`;
}
