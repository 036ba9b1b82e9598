import type { Command } from 'commander';
import { approveDiscard, askDiscard, dlqItems, getDlqItem, requeue, requeueAll } from '../../engine/dlq.js';
import type { Authority } from '../../engine/operator.js';
import { defined } from '../../engine/defined.js';
import { viewOf } from '../../http/routes/dead-letters.js';
import { DLQ_STATUSES, type DlqItem, type DlqStatus } from '../../kernel/index.js';
import { print } from '../console.js';
import { shownJob } from '../job-lines.js';
import { withApp } from '../open-app.js';
import {
  byOption,
  choiceOption,
  command,
  examples,
  numberOption,
  repeatingOf,
  repeatingOptions,
  tenantOption,
  type Flags,
  type Register,
  type RepeatingFlags,
  type Shell,
} from '../shell.js';
import { sheet, table } from '../table.js';

type Options = Flags &
  RepeatingFlags & { readonly tenant?: string; readonly by: string; readonly reason?: string };
type FilterOptions = Options & { readonly task?: string; readonly error?: string };
type ListOptions = FilterOptions & { readonly status: DlqStatus | 'all'; readonly limit: number };
type BulkOptions = FilterOptions & { readonly rate?: number; readonly dryRun?: boolean };

export const registerDlq: Register = (program, shell) => {
  const dlq = command(program, 'dlq', 'Dead letters: jobs that failed for good.');
  const list = command(dlq, 'list', 'Dead letters, oldest first.')
    .addOption(choiceOption('--status <status>', 'which', [...DLQ_STATUSES, 'all']).default('open'))
    .option('--task <name>', 'only those of this task')
    .option('--error <code>', 'only those with this error code')
    .addOption(tenantOption())
    .addOption(numberOption('--limit <n>', 'how many', { least: 1, most: 1_000 }).default(20))
    .action((_options: unknown, self: Command) =>
      shell.ends(listItems(shell, self.optsWithGlobals<ListOptions>())),
    );
  examples(list, 'pawl dlq list --error TASK_TIMEOUT');

  const show = command(dlq, 'show <dlq-id>', 'A dead letter, with what led to it and who did what with it.')
    .addOption(tenantOption())
    .action((id: string, _options: unknown, self: Command) =>
      shell.ends(showItem(shell, id, self.optsWithGlobals<Options>())),
    );
  examples(show, 'pawl dlq show dlq_01JZ…');

  const one = repeatingOptions(
    command(dlq, 'requeue <dlq-id>', 'Start a new job in the place of the one that failed.'),
  )
    .option('--reason <text>', 'why, for the trail')
    .addOption(tenantOption())
    .addOption(byOption())
    .action((id: string, _options: unknown, self: Command) =>
      shell.ends(requeueItem(shell, id, self.optsWithGlobals<Options>())),
    );
  examples(one, 'pawl dlq requeue dlq_01JZ… --by ann', 'pawl dlq requeue dlq_01JZ… --keep-recorded');

  const all = repeatingOptions(command(dlq, 'requeue-all', 'Requeue every open dead letter that fits.'))
    .option('--task <name>', 'only those of this task')
    .option('--error <code>', 'only those with this error code')
    .addOption(numberOption('--rate <n>', 'at most so many each second', { least: 1 }))
    .option('--dry-run', 'only say how many there are')
    .option('--reason <text>', 'why, for the trail')
    .addOption(tenantOption())
    .addOption(byOption())
    .action((_options: unknown, self: Command) =>
      shell.ends(requeueItems(shell, self.optsWithGlobals<BulkOptions>())),
    );
  examples(all, 'pawl dlq requeue-all --task order --dry-run', 'pawl dlq requeue-all --rate 50 --by ann');

  const discard = command(
    dlq,
    'discard <dlq-id>',
    'Ask for a dead letter to be discarded. Another reviewer must agree.',
  )
    .requiredOption('--reason <text>', 'why')
    .addOption(tenantOption())
    .addOption(byOption())
    .action((id: string, _options: unknown, self: Command) =>
      shell.ends(discardItem(shell, id, self.optsWithGlobals<Options & { reason: string }>())),
    );
  examples(discard, "pawl dlq discard dlq_01JZ… --reason 'test data' --by ann");

  const approve = command(dlq, 'approve <dlq-id>', 'Agree to what another reviewer asked for.')
    .addOption(tenantOption())
    .addOption(byOption())
    .action((id: string, _options: unknown, self: Command) =>
      shell.ends(approveItem(shell, id, self.optsWithGlobals<Options>())),
    );
  examples(approve, 'pawl dlq approve dlq_01JZ… --by bob');
  examples(dlq, 'pawl dlq list', 'pawl dlq requeue-all --dry-run');
};

function authorityOf({ tenant, by }: Options): Authority {
  return { tenantId: tenant ?? null, actor: `operator:${by}` };
}

function listItems(shell: Shell, options: ListOptions): Promise<number> {
  const { status, task, error: errorCode, tenant: tenantId = null, limit, json = false } = options;
  return withApp(shell, options, async ({ engine }) => {
    const filter = { tenantId, ...defined({ task, errorCode }) };
    const found: DlqItem[] = [];
    for await (const item of dlqItems(engine, filter, status === 'all' ? null : status)) {
      found.push(item);
      if (found.length === limit) break;
    }
    const items = found.map(viewOf);
    const rows = items.map((item) => [
      item.dlq_id,
      item.job_type,
      item.error_code,
      item.status,
      item.tenant_id,
      item.created_at,
    ]);
    const heads = ['DEAD LETTER', 'TASK', 'ERROR', 'STATUS', 'TENANT', 'SINCE'];
    const text = rows.length === 0 ? 'There are no such dead letters.' : table(heads, rows);
    print(shell.console, { json, data: { items }, text });
    return 0;
  });
}

function showItem(shell: Shell, id: string, options: Options): Promise<number> {
  return withApp(shell, options, async ({ engine }) => {
    const item = await getDlqItem(engine, id, { tenantId: options.tenant ?? null });
    print(shell.console, { json: options.json ?? false, data: viewOf(item), text: itemSheet(item) });
    return 0;
  });
}

function itemSheet(item: DlqItem): string {
  const view = viewOf(item);
  const head = sheet({
    'dead letter': view.dlq_id,
    job: view.job_id,
    task: view.job_type,
    error: `${view.error_code} (${view.error_class})`,
    status: view.status,
    'requeued as': view.requeued_as,
    tenant: view.tenant_id,
    'first failed': view.first_failed_at,
    since: view.created_at,
    payload: JSON.stringify(view.payload_snapshot),
  });
  const attempts = view.context_snapshot.attempts.map((one) => [
    one.attempt,
    one.outcome,
    one.error_code,
    one.started_at,
    one.ended_at,
  ]);
  const trail = view.trail.map((one) => [one.at, one.action, one.by, one.reason]);
  return [
    head,
    table(['ATTEMPT', 'OUTCOME', 'ERROR', 'STARTED', 'ENDED'], attempts),
    ...(trail.length === 0 ? [] : [table(['AT', 'ACTION', 'BY', 'REASON'], trail)]),
  ].join('\n\n');
}

function requeueItem(shell: Shell, id: string, options: Options): Promise<number> {
  return withApp(shell, options, async ({ engine }) => {
    const job = await requeue(engine, id, {
      ...authorityOf(options),
      ...repeatingOf(options),
      reason: options.reason ?? null,
    });
    const text = `Job ${job.spec.jobId} takes the place of the one that failed.`;
    print(shell.console, { json: options.json ?? false, data: shownJob(job), text });
    return 0;
  });
}

function requeueItems(shell: Shell, options: BulkOptions): Promise<number> {
  const { task, error: errorCode, rate, dryRun = false, json = false } = options;
  const { console } = shell;
  const showsProgress = console.isTerminal && !json;
  return withApp(shell, options, async ({ engine }) => {
    const { requeued, passedOver } = await requeueAll(engine, {
      ...authorityOf(options),
      ...repeatingOf(options),
      ...defined({ task, errorCode }),
      reason: options.reason ?? null,
      dryRun,
      perSecond: rate ?? null,
      onProgress: (done) => showsProgress && console.err(`\r${done} requeued`),
    });
    if (showsProgress) console.err('\r\u001b[K');
    const passed =
      passedOver === 0
        ? ''
        : `; ${passedOver} passed over: dealt with meanwhile, or with effects that happened`;
    const text = `${requeued} ${dryRun ? 'would be requeued' : 'requeued'}${passed}.`;
    print(console, { json, data: { requeued, passed_over: passedOver, dry_run: dryRun }, text });
    return 0;
  });
}

function discardItem(shell: Shell, id: string, options: Options & { reason: string }): Promise<number> {
  return withApp(shell, options, async ({ engine }) => {
    const item = await askDiscard(engine, id, { ...authorityOf(options), reason: options.reason });
    const text = `Asked for. Another reviewer must agree: pawl dlq approve ${id} --by <name>`;
    print(shell.console, { json: options.json ?? false, data: viewOf(item), text });
    return 0;
  });
}

function approveItem(shell: Shell, id: string, options: Options): Promise<number> {
  return withApp(shell, options, async ({ engine }) => {
    const item = await approveDiscard(engine, id, authorityOf(options));
    print(shell.console, {
      json: options.json ?? false,
      data: viewOf(item),
      text: `Dead letter ${id} is discarded.`,
    });
    return 0;
  });
}
