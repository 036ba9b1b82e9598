import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { readAlertOptions, type AlertSettings } from '../../../src/engine/alerts/alert-options.js';
import { evaluateAlerts } from '../../../src/engine/alerts/evaluate.js';
import { listAlerts } from '../../../src/engine/alerts/list-alerts.js';
import { subscribe } from '../../../src/engine/callbacks/subscription.js';
import type { CallbackEvents } from '../../../src/engine/callbacks/subscription-cache.js';
import { Engine } from '../../../src/engine/engine.js';
import type { Alert, AlertPayload } from '../../../src/index.js';
import type { Logger } from '../../../src/ports/logger.js';
import type { Store } from '../../../src/ports/store.js';
import { memoryStore } from '../../../src/stores/memory/memory-store.js';
import { postgresStore } from '../../../src/stores/postgres/postgres-store.js';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite-store.js';
import {
  aFailure,
  aFatalFailure,
  aJobSpec,
  command,
  prng,
  Rig,
  type OpenStore,
} from '../../../src/testkit/index.js';
import { startPostgres, type PostgresServer } from '../../postgres-server.js';
import { storeFolder } from '../../store-folder.js';

export const STORES = ['memory', 'sqlite', 'postgres'] as const;
export const MIN = 60_000;

let server: PostgresServer;
let folder: string;
let databases = 0;

/** Call it once in a file of tests: what all of its grounds stand on. */
export function standOnStores(): void {
  beforeAll(async () => {
    folder = storeFolder('pawl-alerts-');
    server = await startPostgres();
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });
}

const OPENERS: Readonly<Record<(typeof STORES)[number], () => OpenStore>> = {
  memory: () => {
    let shared: Store | undefined;
    return async ({ clock }) => (shared ??= memoryStore({ clock }));
  },
  sqlite: () => {
    const path = join(folder, `${++databases}.db`);
    return ({ clock }) => sqliteStore({ path, clock });
  },
  postgres: () => {
    const url = server.borrowDatabase();
    onTestFinished(async () => server.returnDatabase(await url));
    return async ({ clock }) => postgresStore({ url: await url, clock, now: () => clock.now() });
  },
};

/** A store with jobs in whatever state a test wants, and evaluators that only run when they are told to. */
export class AlertGround {
  readonly rig: Rig;
  /** What was logged, by all evaluators. */
  readonly logged: string[] = [];
  #jobs = 0;
  #engines = 0;

  private constructor(rig: Rig) {
    this.rig = rig;
  }

  static async on(store: (typeof STORES)[number]): Promise<AlertGround> {
    const ground = new AlertGround(await Rig.start(OPENERS[store]()));
    onTestFinished(() => ground.rig.stop());
    return ground;
  }

  /** As another process would have it: on a connection of its own. */
  async engine(
    alerts: AlertSettings | false = {},
    via: (store: Store) => Store = (store) => store,
  ): Promise<Engine> {
    const say = (message: string): void => void this.logged.push(message);
    const log: Logger = { debug: say, info: say, warn: say, error: say };
    this.#engines += 1;
    const courier = { check: async () => undefined, deliver: async () => ({ status: 204 }) };
    const engine = new Engine({
      store: via(await this.rig.connect()),
      clock: this.rig.clock,
      random: prng(this.#engines),
      log,
      courier,
      alerts: readAlertOptions(alerts),
    });
    await engine.store.pausedQueues();
    return engine;
  }

  /** Jobs that wait for somebody to claim them. */
  async live(count: number, tenantId = 'acme'): Promise<string[]> {
    return this.#create(count, { tenantId, task: 'idle' });
  }

  /** Jobs that failed once, and will be tried again. */
  async retrying(count: number, tenantId = 'acme'): Promise<string[]> {
    return this.#fail(await this.#create(count, { tenantId }), aFailure);
  }

  async deadLetters(count: number, tenantId = 'acme'): Promise<string[]> {
    return this.#fail(await this.#create(count, { tenantId }), aFatalFailure);
  }

  async cancel(jobIds: readonly string[]): Promise<void> {
    for (const jobId of jobIds) await this.rig.give(jobId, command('cancel', { now: this.rig.clock.now() }));
  }

  async subscribe(
    tenantId: string,
    events: readonly CallbackEvents[] = ['alert'],
    url = 'https://a.example',
  ): Promise<string> {
    const engine = await this.engine(false);
    return (await subscribe(engine, { tenantId, url, contract: 'jobs', events })).id;
  }

  /** Every alert, oldest first. */
  async alerts(tenantId: string | null = null): Promise<Alert[]> {
    const engine = await this.engine(false);
    return (await listAlerts(engine, { tenantId, state: null, limit: 1_000 })).toReversed();
  }

  /** In words: `rule state`. */
  async states(tenantId: string | null = null): Promise<string[]> {
    return (await this.alerts(tenantId)).map(({ rule, state }) => `${rule} ${state}`);
  }

  /** The callbacks that wait to be sent, which are then gone. */
  async mail(): Promise<AlertPayload[]> {
    const { store } = this.rig;
    const { entries } = await store.takeOutbox({ kind: 'callback', limit: 1_000, leaseMs: 1_000 });
    await store.settleOutbox(entries.map(({ entryId }) => ({ entryId, outcome: 'done' as const })));
    return entries.map(({ body }) => (JSON.parse(body) as { alert: AlertPayload }).alert);
  }

  /** Lets time pass, and evaluators look at its end. */
  async after(ms: number, ...engines: readonly Engine[]): Promise<void> {
    this.rig.clock.advance(ms);
    await Promise.all(engines.map((engine) => evaluateAlerts(engine)));
  }

  async #create(count: number, spec: { tenantId: string; task?: string }): Promise<string[]> {
    const jobIds = Array.from({ length: count }, () => `job_ground_${++this.#jobs}`);
    const scheduledAt = this.rig.clock.now();
    const items = await Promise.all(
      jobIds.map((jobId) => this.rig.prepare(jobId, this.rig.createCommand(jobId, { ...spec, scheduledAt }))),
    );
    await this.rig.store.commit(items);
    return jobIds;
  }

  async #fail(jobIds: readonly string[], failure: typeof aFailure): Promise<string[]> {
    const { task, queue } = aJobSpec();
    const lanes = [`${queue}\u001f${task}\u001f`];
    const { jobs } = await this.rig.claim('worker-a', { limit: jobIds.length, lanes });
    const now = this.rig.clock.now();
    const items = await Promise.all(
      jobs.map(({ spec, attemptId }) =>
        this.rig.prepare(spec.jobId, command('fail-attempt', { now, attemptId: attemptId ?? '', failure })),
      ),
    );
    await this.rig.store.commit(items);
    return jobs.map(({ spec }) => spec.jobId);
  }
}
