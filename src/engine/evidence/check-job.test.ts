import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  canonicalJson,
  CHAIN_START,
  chainLink,
  changesOf,
  effectKeyText,
  encodeEvents,
  erasePayloads,
  openDlqItem,
  replay,
  stepKey,
  type Commit,
  type Event,
} from '../../kernel/index.js';
import { prng, randomHistory } from '../../testkit/index.js';
import { chainHash, sha256 } from '../sha256.js';
import { JobCheck, type JobRecord } from './check-job.js';
import { summaryOf } from './evidence-record.js';

/** A random history as the engine would have written it: with effects' true keys, and their results in the ledger. */
function randomEvidence(
  seed: number,
  { erased }: { erased: boolean },
): { jobId: string; records: JobRecord[] } {
  const { commits: drawn } = randomHistory(prng(seed), { commands: 60 });
  const commits = drawn.map((commit): Commit => ({
    ...commit,
    events: commit.events.map(withTrueKey(commit)),
  }));
  const { job } = replay(commits);
  let link = CHAIN_START;
  const log = commits.map(({ jobId, rev, events }): JobRecord => {
    const row = { rev, commandId: `c${rev}`, body: encodeEvents(events) };
    link = chainLink(chainHash, link, { jobId, ...row });
    return { kind: 'log', ...row, body: erased ? erasePayloads(chainHash, row.body) : row.body, link };
  });
  const effects = commits.flatMap(({ events }) =>
    events.flatMap((event): JobRecord[] => {
      if (event.type !== 'effect.recorded') return [];
      const { step, occurrence, entry, result } = event;
      return [{ kind: 'effect', step, occurrence, entry, result }];
    }),
  );
  const item = job.status === 'failed' ? openDlqItem(changesOf(commits)) : null;
  const deadLetter: JobRecord[] = item ? [{ kind: 'deadLetter', item }] : [];
  const records: JobRecord[] = [...log, ...effects, ...deadLetter, { kind: 'row', row: summaryOf(job) }];
  return { jobId: job.spec.jobId, records };
}

const withTrueKey =
  ({ jobId }: Commit) =>
  (event: Event): Event => {
    if (event.type !== 'effect.intended') return event;
    const args = canonicalJson(event.input);
    return {
      ...event,
      effectKey: sha256(effectKeyText({ jobId, stepKey: stepKey(event), tool: event.tool, args })),
    };
  };

function problemOf({ jobId, records }: { jobId: string; records: readonly JobRecord[] }): string | null {
  const check = new JobCheck(jobId);
  for (const record of records) {
    const problem = check.take(record);
    if (problem !== null) return problem;
  }
  return null;
}

test('GUA-14 every history that the rules allow holds, also after its payloads were erased', () => {
  fc.assert(
    fc.property(fc.integer(), fc.boolean(), (seed, erased) => {
      expect(problemOf(randomEvidence(seed, { erased }))).toBeNull();
    }),
    { numRuns: 150 },
  );
});

test('GUA-14 a commit that was left out shows, even if the rest is numbered and chained anew', () => {
  fc.assert(
    fc.property(fc.integer(), fc.nat(), (seed, at) => {
      const { jobId, records } = randomEvidence(seed, { erased: false });
      const log = records.filter((record) => record.kind === 'log');
      fc.pre(log.length > 2);
      let link = CHAIN_START;
      const forged = log.toSpliced(1 + (at % (log.length - 2)), 1).map((row, index) => {
        const { commandId, body } = row;
        link = chainLink(chainHash, link, { jobId, rev: index + 1, commandId, body });
        return { ...row, rev: index + 1, link };
      });
      const problem = problemOf({
        jobId,
        records: [...forged, ...records.filter(({ kind }) => kind !== 'log')],
      });
      expect(problem).not.toBeNull();
    }),
    { numRuns: 150 },
  );
});

test('GUA-14 an effect whose key is not that of its input is noticed', () => {
  for (let seed = 0, found = 0; found < 3; seed++) {
    const { jobId, records } = randomEvidence(seed, { erased: false });
    const [first] = records;
    const intended = records.some(
      (record) => record.kind === 'log' && record.body.includes('effect.intended'),
    );
    if (!intended || first?.kind !== 'log') continue;
    found += 1;
    let link = CHAIN_START;
    const forged = records.map((record): JobRecord => {
      if (record.kind !== 'log') return record;
      const body = record.body.replaceAll(/"effectKey":"[0-9a-f]{64}"/g, `"effectKey":"${'0'.repeat(64)}"`);
      link = chainLink(chainHash, link, { jobId, rev: record.rev, commandId: record.commandId, body });
      return { ...record, body, link };
    });
    expect(problemOf({ jobId, records: forged })).toContain('is not that of its input');
  }
});
