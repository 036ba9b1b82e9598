import type { Engine } from '../engine/engine.js';
import type { Histogram, Tally } from '../engine/meters.js';
import { METRICS, type MetricName } from '../engine/metric-names.js';
import { queueOf, type Timestamp } from '../kernel/index.js';
import type { LaneHead, LiveCount, TenantCount } from '../ports/store.js';
import type { LoopLag } from './loop-lag.js';

/** What only the store can tell. */
export type Stock = {
  readonly live: readonly LiveCount[];
  readonly letters: readonly TenantCount[];
  readonly heads: readonly LaneHead[];
  readonly feedHeldBackSince: Timestamp | null;
  readonly now: Timestamp;
};

/** The store is asked at most this often, however many scrape. */
const FRESH_MS = 10_000;
/** Where counting takes long, it is done so seldom that it takes a hundredth of the time. */
const SHARE = 100;
const MOST_HEADS = 10_000;
const PERCENTILES = [50, 99] as const;

/** The text format that Prometheus reads. */
export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

type Sample = { readonly labels?: Readonly<Record<string, string>>; readonly value: number };

/** Writes the metrics of this process, and of the store as it sees it, as Prometheus reads them. */
export class Metrics {
  readonly #engine: Engine;
  readonly #lag: LoopLag;
  readonly #streams: (() => number) | null;
  #stock: Stock = { live: [], letters: [], heads: [], feedHeldBackSince: null, now: 0 };
  #freshUntil = Number.NEGATIVE_INFINITY;
  /** The first count, which all wait for that come before it is there; later ones nobody waits for but who asked. */
  #first: Promise<void> | null = null;

  /** `streams` null: of a process that serves none, and leaves it to servers to tell what is in the store. */
  constructor(engine: Engine, { lag, streams }: { lag: LoopLag; streams: (() => number) | null }) {
    this.#engine = engine;
    this.#lag = lag;
    this.#streams = streams;
  }

  /** What the store last told of a tenant. */
  async stockOf(tenantId: string): Promise<Stock> {
    const { live, letters, heads, ...rest } = await this.#look();
    const own = <T extends { readonly tenantId: string }>(all: readonly T[]): T[] =>
      all.filter((one) => one.tenantId === tenantId);
    return { live: own(live), letters: own(letters), heads: own(heads), ...rest };
  }

  /** What concerns tenants is shown of one only. */
  async text(tenantId: string): Promise<string> {
    const { meters, storeHealth } = this.#engine;
    const ofTenant = ({ counts }: Tally): Sample[] => [
      { labels: { tenant: tenantId }, value: counts.get(tenantId) ?? 0 },
    ];
    const lines = [
      ...(this.#streams === null ? [] : await this.#ofServer(tenantId, this.#streams)),
      ...write('pawl_jobs_finished_total', byName(meters.finished, 'status')),
      ...write('pawl_dlq_entries_total', ofTenant(meters.dlqEntries)),
      ...write('pawl_transitions_refused_total', ofTenant(meters.transitionsRefused)),
      ...writeHistogram('pawl_claim_wait_seconds', meters.wait),
      ...write('pawl_leases_expired_total', [{ value: meters.leasesExpired }]),
      ...write('pawl_fenced_writes_total', [{ value: meters.fencedWrites }]),
      ...write('pawl_effects_total', byName(meters.effects, 'state')),
      ...write('pawl_effects_late_total', [{ value: meters.lateEffects }]),
      ...write('pawl_event_loop_lag_seconds', this.#lags()),
      ...write('pawl_store_up', [{ value: storeHealth.current.answers ? 1 : 0 }]),
    ];
    return `${lines.join('\n')}\n`;
  }

  async #ofServer(tenantId: string, streams: () => number): Promise<string[]> {
    const { live, letters, heads, feedHeldBackSince, now } = await this.stockOf(tenantId);
    return [
      ...write(
        'pawl_jobs',
        live.map(({ status, count }) => ({ labels: { tenant: tenantId, status }, value: count })),
      ),
      ...write(
        'pawl_dlq_open',
        letters.map(({ count }) => ({ labels: { tenant: tenantId }, value: count })),
      ),
      ...write('pawl_queue_oldest_seconds', oldest(heads, now)),
      ...write('pawl_feed_lag_seconds', [{ value: Math.max(0, now - (feedHeldBackSince ?? now)) / 1_000 }]),
      ...write('pawl_streams', [{ value: streams() }]),
    ];
  }

  /** A store that does not answer leaves what it last said; `pawl_store_up` tells. */
  async #look(): Promise<Stock> {
    const startedAt = this.#engine.clock.elapsed();
    if (startedAt < this.#freshUntil) {
      await this.#first;
      return this.#stock;
    }
    this.#freshUntil = startedAt + FRESH_MS;
    const counted = this.#count(startedAt);
    this.#first ??= counted;
    await counted;
    return this.#stock;
  }

  async #count(startedAt: number): Promise<void> {
    const { clock, store, log } = this.#engine;
    try {
      const [{ counts: live }, { tenants: letters }, { heads }, { since: feedHeldBackSince, now }] =
        await Promise.all([
          store.liveCounts(),
          store.dlqOpen(),
          store.heads({ limit: MOST_HEADS }),
          store.feedHeldBack(),
        ]);
      this.#stock = { live, letters, heads, feedHeldBackSince, now };
      this.#freshUntil = startedAt + Math.max(FRESH_MS, (clock.elapsed() - startedAt) * SHARE);
    } catch (error) {
      log.warn('the store could not be counted for /metrics', { error });
    }
  }

  #lags(): Sample[] {
    const lags = this.#lag.take(PERCENTILES);
    return lags.map((value, index) => ({
      labels: { quantile: `${(PERCENTILES[index] ?? 0) / 100}` },
      value,
    }));
  }
}

function oldest(heads: readonly LaneHead[], now: Timestamp): Sample[] {
  const dueAt = new Map<string, number>();
  for (const { lane, dueAt: since } of heads) {
    const queue = queueOf(lane);
    dueAt.set(queue, Math.min(dueAt.get(queue) ?? Number.POSITIVE_INFINITY, since));
  }
  return [...dueAt].map(([queue, at]) => ({ labels: { queue }, value: Math.max(0, now - at) / 1_000 }));
}

function byName({ counts }: Tally, label: string): Sample[] {
  return [...counts].map(([name, value]) => ({ labels: { [label]: name }, value }));
}

function write(name: MetricName, samples: readonly Sample[]): string[] {
  return [...head(name), ...samples.map(({ labels = {}, value }) => `${name}${labelled(labels)} ${value}`)];
}

function writeHistogram(name: MetricName, { bounds, counts, sum }: Histogram): string[] {
  let below = 0;
  const buckets = bounds.map((bound, index) => {
    below += counts[index] ?? 0;
    return `${name}_bucket{le="${bound}"} ${below}`;
  });
  const all = below + (counts[bounds.length] ?? 0);
  return [
    ...head(name),
    ...buckets,
    `${name}_bucket{le="+Inf"} ${all}`,
    `${name}_sum ${sum}`,
    `${name}_count ${all}`,
  ];
}

function head(name: MetricName): string[] {
  const { help, kind } = METRICS[name];
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${kind}`];
}

function labelled(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

/** As the text format asks for it. */
function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
