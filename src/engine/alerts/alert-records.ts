import type { StoredRecord } from '../../ports/store.js';
import type { Engine } from '../engine.js';
import { sha256 } from '../sha256.js';
import { alertPayload, type Finding } from './alert.js';
import type { AlertBody, Step } from './next-body.js';

/** An alert with where it is kept. Those of one key follow each other; only the last may still change. */
export type KeptAlert = {
  readonly tenantId: string;
  readonly key: string;
  /** Which of its key. */
  readonly nth: number;
  readonly version: number;
  readonly body: AlertBody;
};

const PAGE = 500;
/** More than there ever are of one key. */
const OF_ONE_KEY = 100;

/** The tenant's alerts, by key and in order within it; null for everybody's. */
export async function readAlerts(engine: Engine, tenantId: string | null): Promise<KeptAlert[]> {
  const kept: KeptAlert[] = [];
  let after: StoredRecord | null = null;
  do {
    const page: readonly StoredRecord[] = (
      await engine.store.records({ kind: 'alert', tenantId, after, limit: PAGE })
    ).records;
    kept.push(...page.map(fromRecord));
    after = page.length < PAGE ? null : (page.at(-1) ?? null);
  } while (after !== null);
  return kept;
}

/** The last alert of a key, if there is one. */
export async function lastAlert(
  engine: Engine,
  { tenantId, key }: Pick<KeptAlert, 'tenantId' | 'key'>,
): Promise<KeptAlert | null> {
  const after = { tenantId, id: `${key}#` };
  const { records } = await engine.store.records({ kind: 'alert', tenantId, after, limit: OF_ONE_KEY });
  return records.map(fromRecord).findLast((one) => one.key === key) ?? null;
}

/** The same for every process that finds the same. */
export function keyOf({ rule, subject }: Pick<Finding, 'rule' | 'subject'>): string {
  return subject === undefined ? rule : `${rule}:${sha256(JSON.stringify(subject))}`;
}

/**
 * Saves what becomes of an alert, together with the mail that tells of it. False: somebody else was faster, and nothing
 * was saved, so whatever many evaluators find at once is told once.
 */
export async function saveAlert(
  engine: Engine,
  { before, key }: { before: KeptAlert | null; key: string },
  { body, news }: Step,
): Promise<boolean> {
  const { tenantId } = body;
  const goesOn = before !== null && before.body.state !== 'cleared';
  const nth = (before?.nth ?? 0) + (goesOn ? 0 : 1);
  const expected = goesOn ? before.version : 0;
  const mail = news.flatMap((one) => engine.subscriptions.alertLetters(alertPayload(body, one)));
  const { saved } = await engine.store.putRecord(
    { kind: 'alert', tenantId, id: idOf(key, nth), version: expected + 1, body: JSON.stringify(body) },
    expected,
    mail,
  );
  if (!saved) return false;
  engine.announceMail(mail);
  const { alertId, rule, message } = body;
  for (const one of news) engine.log.warn(`an alert was ${one}`, { alertId, tenantId, rule, says: message });
  return true;
}

/** Of the same rule and tenant: more would only make every round read more. */
const MOST_CLEARED = 20;

/** Removes alerts that cleared long ago, and the oldest of those that clear again and again. They never change any more. */
export async function forgetCleared(
  engine: Engine,
  kept: readonly KeptAlert[],
  { before }: { before: number },
): Promise<void> {
  const newer = new Map<string, number>();
  const cleared = kept.filter(({ body }) => body.state === 'cleared');
  for (const { tenantId, key, nth, body } of cleared.toSorted((a, b) => clearedAt(b) - clearedAt(a))) {
    const group = JSON.stringify([tenantId, body.rule]);
    const count = newer.get(group) ?? 0;
    newer.set(group, count + 1);
    if (count < MOST_CLEARED && clearedAt({ body }) >= before) continue;
    await engine.store.deleteRecord({ kind: 'alert', tenantId, id: idOf(key, nth) });
  }
}

function clearedAt({ body }: Pick<KeptAlert, 'body'>): number {
  return body.clearedAt ?? 0;
}

/** Ids are in the order of the numbers. */
function idOf(key: string, nth: number): string {
  return `${key}#${`${nth}`.padStart(8, '0')}`;
}

function fromRecord({ tenantId, id, version, body }: StoredRecord): KeptAlert {
  const split = id.lastIndexOf('#');
  return {
    tenantId,
    key: id.slice(0, split),
    nth: Number(id.slice(split + 1)),
    version,
    body: JSON.parse(body) as AlertBody,
  };
}
