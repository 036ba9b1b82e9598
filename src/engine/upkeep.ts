import type { WorkerRef } from '../kernel/index.js';
import { DEFAULT_EVERY_MS, isAnyOn } from './alerts/alert-options.js';
import { evaluateAlerts } from './alerts/evaluate.js';
import { Bell } from './bell.js';
import { CallbackDelivery } from './callbacks/deliver.js';
import { deliverOutbox } from './deliver-outbox.js';
import type { Engine } from './engine.js';
import { recoverOrphans, timerLoop, unreadSweep } from './recover.js';
import { repeat, type Loop, type Stoppable } from './repeat.js';
import { retentionSweep, sweepEveryMs, type Retention } from './retention.js';
import { fireDue } from './schedules/fire.js';

export type UpkeepOptions = {
  /** How often work is looked for that nobody told of. */
  readonly pollMs: number;
  readonly leaseMs: number;
  readonly retention: Retention | null;
  /** The worker that keeps an id across restarts, if this is one. */
  readonly restarted: () => WorkerRef | null;
};

/** Everything that must go on for ever, in every process that works. Any number may do so at once. */
export function startUpkeep(
  engine: Engine,
  { pollMs, leaseMs, retention, restarted }: UpkeepOptions,
): Stoppable {
  const { timers, outbox, schedules, callbacks } = engine.bells;
  const alone = () => new Bell(engine.alarms);
  const delivery = new CallbackDelivery(engine);
  const loops: Loop[] = [
    { name: 'the timer loop', bell: timers, everyMs: pollMs, pass: timerLoop(engine) },
    {
      name: 'the outbox loop',
      bell: outbox,
      everyMs: pollMs,
      pass: () => deliverOutbox(engine, { leaseMs }),
    },
    { name: 'the callback loop', bell: callbacks, everyMs: pollMs, pass: () => delivery.pass() },
    { name: 'the scheduler', bell: schedules, everyMs: pollMs, pass: () => fireDue(engine) },
    {
      name: 'the recovery loop',
      bell: alone(),
      everyMs: Math.max(pollMs, leaseMs / 3),
      pass: () => recoverOrphans(engine, restarted()),
    },
    { name: 'the inbox sweep', bell: alone(), everyMs: pollMs * 5, pass: unreadSweep(engine) },
  ];
  if (isAnyOn(engine.alerts)) {
    const everyMs = engine.alerts.everyMs ?? Math.max(DEFAULT_EVERY_MS, pollMs);
    loops.push({ name: 'the alert loop', bell: alone(), everyMs, pass: () => evaluateAlerts(engine) });
  }
  if (retention !== null) {
    const pass = retentionSweep(engine, retention);
    loops.push({ name: 'the retention sweep', bell: alone(), everyMs: sweepEveryMs(retention), pass });
  }
  const running = loops.map((loop) => repeat(engine, loop));
  return {
    async stop() {
      await Promise.all(running.map((loop) => loop.stop()));
      delivery.stop();
    },
  };
}
