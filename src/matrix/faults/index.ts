import type { FaultId } from '../cells.js';
import type { Fault } from '../fault.js';
import { crashBeforeTool } from './f1-crash-before-tool.js';
import { reclaim } from './f10-reclaim.js';
import { blocked } from './f11-blocked.js';
import { crashBeforeCommit } from './f2-crash-before-commit.js';
import { crashAfterCommit } from './f3-crash-after-commit.js';
import { stepTimeout } from './f4-step-timeout.js';
import { signalLost } from './f5-signal-lost.js';
import { twoClaimers } from './f6-two-claimers.js';
import { partition } from './f7-partition.js';
import { ledgerConflict } from './f8-ledger-conflict.js';
import { storeUnavailable } from './f9-store-unavailable.js';

export const FAULT_SCRIPTS: Readonly<Record<FaultId, Fault>> = {
  F1: crashBeforeTool,
  F2: crashBeforeCommit,
  F3: crashAfterCommit,
  F4: stepTimeout,
  F5: signalLost,
  F6: twoClaimers,
  F7: partition,
  F8: ledgerConflict,
  F9: storeUnavailable,
  F10: reclaim,
  F11: blocked,
};
