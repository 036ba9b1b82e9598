import { HIT_KINDS } from './hits.js';
import type { Summary } from './run-seeds.js';

export function progress({ seeds, decisions, cpuSeconds, failures }: Summary): string {
  const rate = Math.round(decisions / Math.max(cpuSeconds, 0.001));
  return `${seeds} schedules, ${decisions} decisions, ${rate}/s, ${failures.length} failures`;
}

/** What a run was, for people. */
export function report(summary: Summary): string {
  const { medianDecisions, cpuSeconds, hits } = summary;
  const lines = [
    progress(summary),
    `median ${medianDecisions} decisions per schedule, ${cpuSeconds.toFixed(1)} s of processor time`,
  ];
  for (const kind of HIT_KINDS) {
    const own = Object.entries(hits).filter(([key]) => key.startsWith(`${kind} `));
    lines.push(`${kind}: ${own.map(([key, count]) => `${key.slice(kind.length + 1)} ${count}`).join(' · ')}`);
  }
  return lines.join('\n');
}
