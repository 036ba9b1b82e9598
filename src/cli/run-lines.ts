import type { RunSnapshot, RunSummary } from '../contracts/index.js';
import { plainText } from './plain-text.js';
import { sheet, table } from './table.js';

export function runTable(runs: readonly RunSummary[]): string {
  if (runs.length === 0) return 'No runs.';
  const rows = runs.map((run) => [
    run.run_id,
    run.workflow_name,
    run.status,
    run.updated_at,
    run.message && plainText(run.message),
  ]);
  return table(['RUN', 'WORKFLOW', 'STATUS', 'UPDATED AT', 'MESSAGE'], rows);
}

/** A run with its steps; of the hosts, those that did not end well come first and each has a line. */
export function runSheet(run: RunSnapshot): string {
  const { reconciliation: found } = run;
  const head = sheet({
    run: run.run_id,
    workflow: run.workflow_name,
    status: run.status,
    message: run.message && plainText(run.message),
    error: run.last_error && plainText(`${run.last_error.code}: ${run.last_error.message}`),
    interrupted: run.interrupted_reason,
    reconciled: found && `${found.outcome} by ${found.actor} at ${found.at}: ${found.reason}`,
    started: run.started_at,
    finished: run.finished_at,
  });
  return run.steps.length === 0 ? head : `${head}\n\n${stepTable(run)}`;
}

/** What a run came to, in a few lines: the counts of every step, and what failed. */
export function runSummaryLines(run: RunSnapshot): string {
  const end = `Run ${run.run_id} (${run.workflow_name}): ${run.status}${run.message ? `. ${plainText(run.message)}` : ''}`;
  return run.steps.length === 0 ? end : `${stepTable(run)}\n${failures(run)}${end}`;
}

const COUNTED = ['success', 'failed', 'skipped', 'running', 'interrupted'] as const;

function stepTable({ steps }: RunSnapshot): string {
  const rows = steps.map(({ name, status, hosts }) => {
    const all = Object.values(hosts);
    const counts = COUNTED.map((of) => ({ of, count: all.filter((host) => host.status === of).length }));
    const shown = counts.filter(({ count }) => count > 0).map(({ of, count }) => `${count} ${of}`);
    return [name, status, shown.join(', ')];
  });
  return table(['STEP', 'STATUS', 'HOSTS'], rows);
}

function failures({ steps }: RunSnapshot): string {
  return steps
    .flatMap(({ name, hosts }) =>
      Object.entries(hosts)
        .filter(([, { status }]) => status === 'failed' || status === 'interrupted')
        .map(
          ([host, { status, message }]) => `${status} ${plainText(`${name} on ${host}: ${message ?? ''}`)}\n`,
        ),
    )
    .join('');
}
