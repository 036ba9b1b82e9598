import { PawlError } from '../../errors.js';
import { Pawl } from '../../client/app.js';
import { hash32, SIGNAL_KEY } from '../../kernel/index.js';
import type { World } from '../world.js';
import { settleEffects, type Client, type OperateParts } from './operate.js';

const EVERY_MS = 2_000;
const CARE = hash32('care');

/** After the faults: gives every job what only people can give it, so that all can end. */
export function careFor(world: World, client: () => Client | null, parts: OperateParts): void {
  const again = (): void => void world.schedule(EVERY_MS, null, CARE, round);
  const round = (): void => {
    const here = client();
    if (here === null) again();
    else here.host.enter(() => look(parts, here).catch(expected).finally(again));
  };
  round();
}

async function look(parts: OperateParts, client: Client): Promise<void> {
  const { app } = client;
  const { engine } = Pawl.inside(app);
  for (const { queue } of (await engine.store.pausedQueues()).queues)
    await engine.store.pauseQueue({ queue, paused: false, by: 'caretaker' });
  for (const { scheduleId, paused } of await app.schedules.list())
    if (!paused) await app.schedules.pause(scheduleId);
  const live = [...parts.watch.live];
  if (live.length === 0) return;
  await engine.store.release(live);
  await settleEffects(parts, client);
  for (const jobId of live) {
    const job = parts.watch.jobOf(jobId);
    const keys = (job?.waits ?? []).filter(({ key, kind }) => kind === 'signal' && SIGNAL_KEY.test(key));
    for (const { key } of keys) await app.job(jobId).signal(key, 'from the caretaker').catch(expected);
  }
}

function expected(error: unknown): void {
  if (!(error instanceof PawlError)) throw error;
}
