import type { PawlError } from '../errors.js';
import { toMs, type Duration } from '../engine/duration.js';
import * as is from '../engine/option-checks.js';
import { invalidOption, Options } from '../engine/options.js';
import { LEAST_LEASE_MS } from '../kernel/index.js';

export type WorkOptions = {
  /** How many jobs run at once in this process. */
  readonly concurrency?: number;
  /** A name that this process keeps across restarts: what it left behind is then taken up at once. */
  readonly workerId?: string;
  readonly lease?: Duration;
  readonly poll?: Duration;
  readonly queues?: readonly string[];
  /** How long running jobs get to end when the worker stops. */
  readonly drain?: Duration;
  /** Stop on SIGTERM and SIGINT before the process ends. On unless switched off. */
  readonly stopOnSignal?: boolean;
  /** Told when the worker has to stop by itself, such as when another has its id. */
  readonly onStopped?: (error: PawlError) => void;
};

const WORK = new Options<WorkOptions>({
  concurrency: is.whole(1),
  workerId: is.elsewhere,
  lease: is.duration,
  poll: is.duration,
  queues: is.listOf(is.text, 'names of queues'),
  drain: is.duration,
  stopOnSignal: is.flag,
  onStopped: is.func,
});

const DEFAULT_CONCURRENCY = 50;
const DEFAULT_LEASE: Duration = '30s';
const DEFAULT_POLL: Duration = '1s';
const DEFAULT_DRAIN: Duration = '10s';

/** Every loop asks as often. More often is nothing but asking, and nobody gets a job sooner by it. */
const LEAST_POLL_MS = 5;
/** A worker's name is the beginning of longer ones, of its lives and its claims, for which stores and logs have room. */
const MOST_NAME = 120;
const NAME = /^[^\u0000-\u001f\u007f\ud800-\udfff]+$/u;

/** What was asked for, and the defaults for what was not. `namedUnder`: what the worker's name will begin with. */
export function readWorkOptions(options: WorkOptions, { namedUnder }: { namedUnder: string }) {
  WORK.expect(options, 'work()');
  const { concurrency = DEFAULT_CONCURRENCY, workerId = null, queues = null } = options;
  const { lease = DEFAULT_LEASE, poll = DEFAULT_POLL, drain = DEFAULT_DRAIN } = options;
  if (workerId !== null) expectName(workerId, MOST_NAME - namedUnder.length);
  return {
    concurrency,
    workerId,
    queues,
    leaseMs: atLeast(lease, { leastMs: LEAST_LEASE_MS, option: 'lease' }),
    pollMs: atLeast(poll, { leastMs: LEAST_POLL_MS, option: 'poll' }),
    drainMs: toMs(drain, 'drain'),
  };
}

function atLeast(duration: Duration, { leastMs, option }: { leastMs: number; option: string }): number {
  const ms = toMs(duration, option);
  if (ms >= leastMs) return ms;
  throw invalidOption(option, `${option} is ${JSON.stringify(duration)}, which is less than ${leastMs} ms`);
}

function expectName(name: unknown, most: number): void {
  if (typeof name === 'string' && name.length <= most && NAME.test(name)) return;
  throw invalidOption(
    'workerId',
    `workerId is ${JSON.stringify(name)}, which is no name of 1 to ${most} characters, none of them a control character`,
  );
}
