/** `counter`: only ever grows, while a process lives. `gauge`: what it is at the moment. `histogram`: how long things took. */
export type Metric = {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly help: string;
};

/** Every metric that Pawl exposes. Whoever exposes one, and every rule on one, names it as it stands here. */
export const METRICS = {
  pawl_jobs: { kind: 'gauge', labels: ['tenant', 'status'], help: 'Jobs, by state.' },
  pawl_dlq_entries_total: { kind: 'counter', labels: ['tenant'], help: 'Jobs that were dead-lettered.' },
  pawl_dlq_open: { kind: 'gauge', labels: ['tenant'], help: 'Dead letters that nobody has dealt with.' },
  pawl_transitions_refused_total: {
    kind: 'counter',
    labels: ['tenant'],
    help: 'Commands that were refused because of the state that their job was in.',
  },
  pawl_queue_oldest_seconds: {
    kind: 'gauge',
    labels: ['queue'],
    help: 'How long the job that has been due for longest has waited for a worker.',
  },
  pawl_leases_expired_total: {
    kind: 'counter',
    labels: [],
    help: 'Jobs that were taken from a worker that was gone.',
  },
  pawl_effects_late_total: {
    kind: 'counter',
    labels: [],
    help: 'Effects that happened after they had been declared not to have.',
  },
  pawl_jobs_finished_total: {
    kind: 'counter',
    labels: ['status'],
    help: 'Jobs that ended in this process, by how.',
  },
  pawl_claim_wait_seconds: {
    kind: 'histogram',
    labels: [],
    help: 'How long jobs that this process claimed had waited since they could be.',
  },
  pawl_fenced_writes_total: {
    kind: 'counter',
    labels: [],
    help: 'Writes of workers that had lost their job, which were refused.',
  },
  pawl_effects_total: {
    kind: 'counter',
    labels: ['state'],
    help: 'Entries of effects: entered, recorded, closed without effect, of unknown outcome, reconciled.',
  },
  pawl_event_loop_lag_seconds: {
    kind: 'gauge',
    labels: ['quantile'],
    help: 'How late timers of this process are, since the last look.',
  },
  pawl_feed_lag_seconds: {
    kind: 'gauge',
    labels: [],
    help: 'How long the event feed has been held back, on Postgres by a transaction that goes on.',
  },
  pawl_streams: { kind: 'gauge', labels: [], help: 'Readers of event streams.' },
  pawl_store_up: { kind: 'gauge', labels: [], help: '1 while the store can be used, else 0.' },
} as const satisfies Readonly<Record<`pawl_${string}`, Metric>>;

export type MetricName = keyof typeof METRICS;
