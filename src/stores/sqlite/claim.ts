import type { Job } from '../../kernel/index.js';
import type { Claimed, ClaimRequest, Loaded } from '../../ports/store.js';
import { takeTurns, type DueJobs } from '../fair-turns.js';
import { assembleIdle } from '../job-state.js';
import { saveClaim } from './commit.js';
import type { Session } from './session.js';

/** A due job with the rows of its log that it takes to put it together. Nobody runs it, so its row is up to date. */
type Candidate = {
  readonly id: number;
  readonly job_id: string;
  readonly priority: number;
  readonly due_at: number;
  readonly rev: number;
  readonly state: string;
  readonly inbox_rev: number;
  readonly created: string;
  readonly link: string;
};

/** Takes due jobs within an open transaction: the index finds them, the caller's rules decide, the commit guards. */
export function claim(db: Session, { worker, lanes, limit, afterTenant, decide }: ClaimRequest): Claimed {
  const now = db.now();
  const alive =
    db.get('SELECT 1 FROM workers WHERE incarnation = ? AND dead = 0', worker.incarnation) !== undefined;
  if (!alive) return { now, alive, jobs: [], lastTenant: afterTenant };

  const { picked, lastTenant } = takeTurns(dueIn(db, lanes, now), { afterTenant, limit });
  const jobs = picked.flatMap((candidate): Job[] => {
    const item = decide(assembled(candidate), now);
    if (!item?.job) return [];
    saveClaim(db, candidate.id, item);
    return [item.job];
  });
  return { now, alive, jobs, lastTenant };
}

const IS_DUE = 'due_at IS NOT NULL AND due_at <= ? AND (deadline_at IS NULL OR deadline_at > ?)';

/** Looks lane by lane: each is one stretch of the claim index, and jobs of unknown tasks are never stepped over. */
function dueIn(db: Session, lanes: readonly string[], now: number): DueJobs<Candidate> {
  return {
    tenantsAfter(after, limit) {
      const tenants = new Set<string>();
      for (const lane of lanes) {
        let last = after;
        for (let found = 0; found < limit; found++) {
          const next = db.get<{ tenant_id: string }>(
            `SELECT tenant_id FROM jobs WHERE lane = ? AND tenant_id > ? AND ${IS_DUE} ORDER BY tenant_id LIMIT 1`,
            lane,
            last,
            now,
            now,
          );
          if (!next) break;
          last = next.tenant_id;
          tenants.add(last);
        }
      }
      return [...tenants].toSorted().slice(0, limit);
    },
    of(tenantId, limit) {
      const candidates = lanes.flatMap((lane) =>
        db.all<Candidate>(
          `SELECT jobs.id, job_id, priority, due_at, jobs.rev, state, inbox_rev, first.body AS created, head.link
           FROM jobs JOIN log AS first ON first.job = jobs.id AND first.rev = 1
           JOIN log AS head ON head.job = jobs.id AND head.rev = jobs.rev
           WHERE lane = ? AND tenant_id = ? AND ${IS_DUE} ORDER BY priority DESC, due_at, job_id LIMIT ?`,
          lane,
          tenantId,
          now,
          now,
          limit,
        ),
      );
      return candidates.toSorted(inTurn).slice(0, limit);
    },
  };
}

function inTurn(a: Candidate, b: Candidate): number {
  return b.priority - a.priority || a.due_at - b.due_at || (a.job_id < b.job_id ? -1 : 1);
}

function assembled({ job_id, rev, state, inbox_rev, created, link }: Candidate): Loaded {
  return assembleIdle({ jobId: job_id, rev, state, inboxRev: inbox_rev, created, link });
}
