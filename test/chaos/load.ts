import type { Random } from '../../src/ports/random.js';
import type { Work } from './chaos-tasks.js';
import type { HttpClient } from './http-client.js';
import { SCHEDULE } from './limits.js';

/** What a client was told. It must be true at the end. */
export type Acknowledged = {
  /** By key: which job it was answered with, and what was asked for. */
  readonly starts: Map<string, { readonly jobId: string; readonly task: string; readonly input: string }>;
  readonly signals: { readonly jobId: string; readonly key: string; readonly payload: string }[];
  readonly cancels: Set<string>;
  readonly requeues: Map<string, string>;
  /** What cannot be, seen on the spot. */
  readonly breaches: { readonly invariant: number; readonly problem: string }[];
};

const TASKS = ['plain', 'order', 'order', 'approval', 'nap', 'family', 'flaky', 'keyed', 'rated'] as const;
const KEYS = ['a', 'b', 'c'];

/** Clients that start, repeat, signal, cancel and requeue over HTTP. What they do is drawn; when it is done is not. */
export class Load {
  readonly acknowledged: Acknowledged = {
    starts: new Map(),
    signals: [],
    cancels: new Set(),
    requeues: new Map(),
    breaches: [],
  };
  readonly #client: HttpClient;
  readonly #random: Random;
  readonly #prefix: string;
  #started = 0;
  #isOver = false;

  constructor(client: HttpClient, { random, prefix }: { random: Random; prefix: string }) {
    this.#client = client;
    this.#random = random;
    this.#prefix = prefix;
  }

  get asked(): number {
    return this.#started;
  }

  async openSchedule(): Promise<void> {
    const body = {
      job_type: 'tick',
      schedule_type: 'every',
      every_ms: SCHEDULE.everyMs,
      overlap: 'allow',
      catch_up: 'all',
      payload: { n: 1 },
    };
    const answer = await this.#client.ask('PUT', `/api/v1/schedules/${SCHEDULE.id}`, body);
    if (answer?.status !== 200) throw new Error(`the schedule was refused: ${answer?.code}`);
  }

  async closeSchedule(): Promise<void> {
    await this.#client.ask('DELETE', `/api/v1/schedules/${SCHEDULE.id}`);
  }

  /** Until it is told to end. `perSecond`: jobs that are asked for, all clients together. */
  async run({ clients, perSecond }: { clients: number; perSecond: number }): Promise<void> {
    const meanMs = (1_000 * clients) / perSecond;
    const client = async (): Promise<void> => {
      while (!this.#isOver) {
        await this.#doSomething();
        await pause(this.#random.int(Math.round(meanMs * 2)));
      }
    };
    await Promise.all(Array.from({ length: clients }, client));
  }

  stop(): void {
    this.#isOver = true;
  }

  async #doSomething(): Promise<void> {
    if (this.#random.int(40) === 0) await this.#requeueOne();
    const key = `${this.#prefix}-${this.#started++}`;
    const task = TASKS[this.#random.int(TASKS.length)] ?? 'plain';
    const input: Work = {
      n: this.#random.int(10_000),
      ...(task === 'flaky' && { failures: this.#random.int(5) }),
      ...(task === 'keyed' && { key: KEYS[this.#random.int(KEYS.length)] ?? 'a' }),
    };
    const isTwice = this.#random.int(8) === 0;
    const [jobId] = await Promise.all([
      this.start(key, task, input),
      ...(isTwice ? [this.start(key, task, input)] : []),
    ]);
    if (jobId === null) return;
    if (task === 'approval' && this.#random.int(10) > 0) {
      await pause(this.#random.int(100));
      await this.signal(jobId, key);
    }
    if (this.#random.int(15) === 0) await this.#cancel(jobId);
    // Long after, by somebody who does not know that it was done.
    if (this.#random.int(10) === 0) await this.start(key, task, input);
  }

  async start(key: string, task: string, input: Work): Promise<string | null> {
    const { starts, breaches } = this.acknowledged;
    const body = { job_type: task, idempotency_key: key, payload: input };
    const answer = await this.#client.ask('POST', '/api/v1/jobs', body);
    if (answer === null) return null;
    const jobId = String(answer.data['job_id']);
    if (answer.status !== 200 && answer.status !== 201) {
      breaches.push({ invariant: 10, problem: `start ${key} was refused with ${answer.code}` });
      return null;
    }
    const first = starts.get(key);
    if (first !== undefined && first.jobId !== jobId)
      breaches.push({ invariant: 10, problem: `${key} was answered with ${first.jobId}, and with ${jobId}` });
    if (first === undefined) starts.set(key, { jobId, task, input: JSON.stringify(input) });
    return jobId;
  }

  async signal(jobId: string, word: string): Promise<void> {
    const body = { correlation_key: 'go', payload: word };
    const answer = await this.#client.ask('POST', `/api/v1/jobs/${jobId}/signal`, body);
    // What ended before is told nothing more.
    if (answer?.status !== 200 && answer?.status !== 202) return;
    if (answer.data['outcome'] === 'repeated') return;
    this.acknowledged.signals.push({ jobId, key: 'go', payload: JSON.stringify(word) });
  }

  async #cancel(jobId: string): Promise<void> {
    const answer = await this.#client.ask('POST', `/api/v1/jobs/${jobId}/cancel`, {});
    if (answer?.status === 200) this.acknowledged.cancels.add(jobId);
  }

  async #requeueOne(): Promise<void> {
    const listed = await this.#client.ask('GET', '/api/v1/dlq?status=open&limit=5');
    const items = (listed?.data['items'] ?? []) as { dlq_id: string }[];
    const [item] = items;
    if (item === undefined) return;
    // By turns, from the start and from where it was.
    const keeps = this.acknowledged.requeues.size % 2 === 0;
    const how = { keep_recorded: keeps, repeat_effects: !keeps };
    const answer = await this.#client.ask('POST', `/api/v1/dlq/${item.dlq_id}/requeue`, how);
    if (answer?.status !== 200 && answer?.status !== 201) return;
    const jobId = String(answer.data['job_id']);
    const { requeues, breaches } = this.acknowledged;
    const other = requeues.get(item.dlq_id);
    if (other !== undefined && other !== jobId)
      breaches.push({ invariant: 10, problem: `${item.dlq_id} was requeued as ${other}, and as ${jobId}` });
    requeues.set(item.dlq_id, jobId);
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
