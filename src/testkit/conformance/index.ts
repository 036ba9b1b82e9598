import { append } from './append.js';
import { claims } from './claims.js';
import { fencing } from './fencing.js';
import { identity } from './identity.js';
import { effects, inbox } from './mailbox.js';
import { limits } from './limits.js';
import { lists } from './lists.js';
import { lostReplies } from './lost-replies.js';
import { migration } from './migration.js';
import type { Topic } from './rig.js';
import { tenantLimits } from './tenant-limits.js';
import { leases, timers } from './time.js';
import { tallies } from './tallies.js';
import { retention } from './retention.js';
import { outbox, records, schedules } from './upkeep.js';
import { deadLetters, feed } from './views.js';
import { wakeUps } from './wake-ups.js';

/** What every store must do, by topic. Run each case on a rig of its own: `Rig.start(open)`. */
export const STORE_CONFORMANCE: readonly Topic[] = [
  append,
  fencing,
  claims,
  identity,
  effects,
  inbox,
  timers,
  leases,
  lists,
  feed,
  deadLetters,
  tallies,
  limits,
  tenantLimits,
  schedules,
  records,
  outbox,
  retention,
  wakeUps,
  lostReplies,
  migration,
];

export { lostConnection } from './lost-connection.js';
export { Rig, type Case, type OpenStore, type Topic } from './rig.js';
export { DRAWS, randomTraffic, type Draws } from './random-traffic.js';
export { findLosses, workUntilKilled, type Acknowledged } from './crash.js';
