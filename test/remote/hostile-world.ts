import { prepareCommit } from '../../src/engine/prepare-commit.js';
import { readSteps } from '../../src/engine/read-log.js';
import { decide, laneOf, type Command, type Job } from '../../src/kernel/index.js';
import type { Store } from '../../src/ports/store.js';
import { httpStore } from '../../src/stores/http/http-store.js';
import { memoryStore } from '../../src/stores/memory/memory-store.js';
import { aJobSpec, fakeClock, prng, T0, type FakeClock } from '../../src/testkit/index.js';
import { groundOn } from './ground.js';

/** One commit as it goes over the wire. */
export type Wire = {
  readonly job_id: string;
  readonly rev: number;
  readonly command_id: string;
  readonly link: string;
  readonly commands: readonly unknown[];
  readonly inbox_rev: number | null;
  readonly children: readonly unknown[];
};

export const JOB = 'job_hostile_1';
export const NO_LINK = '0'.repeat(43);

/** A job that a remote worker holds, on a server that others can reach as well. */
export class HostileWorld {
  readonly clock: FakeClock;
  readonly own: Store;
  readonly keys: Readonly<Record<'holder' | 'sibling' | 'stranger' | 'viewer', string>>;
  readonly worker: { readonly id: string; readonly incarnation: string };
  readonly #url: string;
  #commits = 0;

  private constructor(parts: Pick<HostileWorld, 'clock' | 'own' | 'keys' | 'worker'> & { url: string }) {
    this.clock = parts.clock;
    this.own = parts.own;
    this.keys = parts.keys;
    this.worker = parts.worker;
    this.#url = parts.url;
  }

  static async open(): Promise<HostileWorld> {
    const clock = fakeClock(T0);
    const own = memoryStore({ clock });
    const { serving, key } = await groundOn(own, { clock, random: prng(7), upkeep: false });
    const keys = {
      holder: await key('acme'),
      sibling: await key('acme'),
      stranger: await key('evil'),
      viewer: await key('acme', 'viewer'),
    };
    const { store, session } = await httpStore({ url: serving.url, key: keys.holder, clock });
    await store.close();
    const id = `${session.namedUnder}w`;
    const world = new HostileWorld({
      clock,
      own,
      keys,
      worker: { id, incarnation: `${id}.1` },
      url: serving.url,
    });
    return world;
  }

  async post(path: string, body: unknown, key: string | null): Promise<{ status: number; data: unknown }> {
    const response = await fetch(`${this.#url}/api/v1/worker${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify(body),
    });
    const { data, error } = (await response.json()) as { data?: unknown; error?: unknown };
    return { status: response.status, data: data ?? error };
  }

  async claim(): Promise<void> {
    const { worker } = this;
    await this.post('/beat', { worker, lease_ms: 30_000, lanes: [] }, this.keys.holder);
    const lanes = [
      { lane: laneOf(aJobSpec()), key_limit: null, tenant_limit: null, rate: null, rate_per_tenant: false },
    ];
    await this.post('/claim', { worker, lanes, limit: 1, has_suspect: false, except: [] }, this.keys.holder);
  }

  async job(): Promise<Job | null> {
    return (await this.own.load(JOB)).found?.job ?? null;
  }

  /** Everything that a commit could have changed. */
  async everything(): Promise<string> {
    const { position } = await this.own.feedEnd();
    const parts = await Promise.all([
      this.own.load(JOB),
      this.own.log(JOB, { fromRev: 1, limit: 1_000 }),
      this.own.inbox(JOB),
      this.own.effects(JOB),
      this.own.counts({ tenantId: null }),
      this.own.takeOutbox({ kind: 'child', limit: 0, leaseMs: 1 }),
    ]);
    return JSON.stringify([position, parts]);
  }

  /** What an honest holder would send for a command: with the link that the kernel's own answer has, if it has one. */
  async wire(command: Command, attemptId: string): Promise<Wire> {
    const { found } = await this.own.load(JOB);
    const steps = await readSteps(this.own, JOB);
    this.#commits += 1;
    const commandId = 'attemptId' in command ? `${attemptId}:${this.#commits}` : `setup:${this.#commits}`;
    const decision = decide(found && found.job, command, steps);
    const link =
      decision.ok && decision.events.length > 0
        ? prepareCommit(found, { jobId: JOB, commandId, events: decision.events }).link
        : NO_LINK;
    return {
      job_id: JOB,
      rev: (found?.job.rev ?? 0) + 1,
      command_id: commandId,
      link,
      commands: [command],
      inbox_rev: null,
      children: [],
    };
  }

  /** True if the server saved it. */
  async send(wire: Wire, key: string | null): Promise<{ saved: boolean; said: string }> {
    const { status, data } = await this.post('/commits', { commits: [wire] }, key);
    if (status !== 200) return { saved: false, said: `${status} ${(data as { code: string }).code}` };
    const [reply] = (data as { replies: { ok?: boolean; code?: string; error?: { code: string } }[] })
      .replies;
    return { saved: reply?.ok === true, said: reply?.error?.code ?? reply?.code ?? 'ok' };
  }
}
