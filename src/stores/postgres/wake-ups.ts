import pg from 'pg';
import type { Clock } from '../../ports/clock.js';
import type { Store } from '../../ports/store.js';
import { localWakeUps } from '../local-wake-ups.js';
import { nowAndThen } from '../now-and-then.js';
import type { Session } from './session.js';
import { cut, KEEP_ALIVE, leave } from './silence.js';
import type { Notice } from './whole.js';

const CHANNEL = 'pawl_wake';
/** The first notification goes at once; what follows within this time is collected, since each one costs a statement. */
const APART_MS = 5;
/** How long after a lost connection listening is tried again. Polling finds the work meanwhile. */
const LISTEN_AGAIN_MS = 1_000;
/** The server takes no more than 8,000 bytes at once. */
const MOST_BYTES = 7_000;

/** What it tells of is durable already, so it need not wait for the disk itself. */
const NOTIFY = `SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)`;
/** The same unless its start was refused. */
const NOTIFY_OF_JOB = `${NOTIFY} WHERE EXISTS (SELECT 1 FROM pawl.jobs WHERE job_id = $3)`;

export type NoticeBoard = {
  /** Of a job, for right behind its start. Null: not now, so that those who wait for it have to be woken once it is saved. */
  readonly noticeOf: (jobId: string, lane: string) => Notice | null;
  /** Wakes those who wait within this process. */
  readonly tellHere: (lane: string) => void;
};

/**
 * Wake-ups across processes, by LISTEN and NOTIFY: never inside the transaction that saves, where a notification
 * would make all of them queue for one lock, and never relied upon. A failure here is nobody's problem.
 */
export function notifiedWakeUps(
  session: Session,
  clock: Pick<Clock, 'after'>,
): Pick<Store, 'wake' | 'listen'> & NoticeBoard & { stop(): Promise<void> } {
  const local = localWakeUps();
  const pending = new Set<string>();
  let listener: Listener | null = null;
  let listeners = 0;
  /** Whoever listens while this one ends gets another. */
  const stopListening = async (): Promise<void> => {
    const last = listener;
    listener = null;
    await last?.stop();
  };

  const notify = nowAndThen(clock, APART_MS, () => {
    const lanes = [...pending];
    pending.clear();
    for (const payload of payloadsOf(lanes)) {
      session.single.rows(NOTIFY, [CHANNEL, payload]).catch(() => undefined);
    }
  });

  return {
    noticeOf(jobId, lane) {
      const payload = JSON.stringify([lane]);
      if (!session.listens || Buffer.byteLength(payload) > MOST_BYTES || !notify.take()) return null;
      const lost = () => {
        pending.add(lane);
        notify.soon();
      };
      return { asked: { sql: NOTIFY_OF_JOB, values: [CHANNEL, payload, jobId] }, lost };
    },
    tellHere: (lane) => local.wake([lane]),
    wake(lanes) {
      local.wake(lanes);
      if (!session.listens || lanes.length === 0) return;
      for (const lane of lanes) pending.add(lane);
      notify.soon();
    },
    listen(hear) {
      const stopLocal = local.listen(hear);
      listeners += 1;
      if (session.listens)
        listener ??= new Listener({
          url: session.url,
          silenceMs: session.silenceMs,
          clock,
          hear: local.wake,
        });
      return async () => {
        await stopLocal();
        listeners -= 1;
        if (listeners === 0) await stopListening();
      };
    },
    stop: stopListening,
  };
}

function payloadsOf(lanes: readonly string[]): string[] {
  const payloads: string[] = [];
  let page: string[] = [];
  for (const lane of lanes) {
    if (Buffer.byteLength(JSON.stringify([...page, lane])) > MOST_BYTES) {
      payloads.push(JSON.stringify(page));
      page = [];
    }
    page.push(lane);
  }
  return page.length > 0 ? [...payloads, JSON.stringify(page)] : payloads;
}

type ListenerOptions = {
  readonly url: string;
  readonly silenceMs: number;
  readonly clock: Pick<Clock, 'after'>;
  readonly hear: (lanes: readonly string[]) => void;
};

/** One connection that listens, and comes back when it is lost. */
class Listener {
  readonly #options: ListenerOptions;
  #client: pg.Client | null = null;
  /** One that does not listen yet. Nobody waits for it if it is not wanted any more: a silent server would take its time. */
  #opening: pg.Client | null = null;
  #stopped = false;
  #cancelRetry: () => void = () => undefined;
  #connecting: Promise<void>;

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#connecting = this.#connect();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelRetry();
    if (this.#opening !== null) cut(this.#opening);
    await this.#connecting;
    const client = this.#client;
    if (client === null) return;
    const ended = client.end().catch(() => undefined);
    leave(client);
    await ended;
  }

  async #connect(): Promise<void> {
    if (this.#stopped) return;
    const { url, silenceMs } = this.#options;
    const client = new pg.Client({
      connectionString: url,
      application_name: 'pawl listener',
      connectionTimeoutMillis: silenceMs,
      query_timeout: silenceMs,
      ...KEEP_ALIVE,
    });
    this.#opening = client;
    let lost = false;
    const again = (): void => {
      if (lost || this.#stopped) return;
      lost = true;
      this.#client = null;
      this.#cancelRetry = this.#options.clock.after(LISTEN_AGAIN_MS, () => {
        this.#connecting = this.#connect();
      });
    };
    client.on('error', again);
    client.on('end', again);
    client.on('notification', ({ payload }) => this.#options.hear(lanesIn(payload)));
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
      this.#client = client;
    } catch {
      cut(client);
      await client.end().catch(() => undefined);
      again();
    } finally {
      this.#opening = null;
    }
  }
}

/** Anyone may notify on the channel: what is not a list of lanes wakes nobody. */
function lanesIn(payload: string | undefined): string[] {
  try {
    const lanes: unknown = JSON.parse(payload ?? '');
    return Array.isArray(lanes) ? lanes.filter((lane) => typeof lane === 'string') : [];
  } catch {
    return [];
  }
}
