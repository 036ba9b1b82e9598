import { drawnFrom } from '../engine/drawn-from.js';
import type { Engine } from '../engine/engine.js';
import { sha256 } from '../engine/sha256.js';
import { PawlError } from '../errors.js';
import { BUCKETS, newJobId } from '../kernel/index.js';
import type { RecordRef } from '../ports/store.js';
import type { Caller } from './route.js';

/** How long an Idempotency-Key is remembered. */
const REMEMBERED_MS = 86_400_000;
/** A request that was not answered by then never will be: its server is gone, and the next may do it again. */
const ABANDONED_MS = 60_000;
const KEY = /^[\x21-\x7e]{1,255}$/;
const PAGE = 500;

/** `answer` is null while the first request is under way. */
type Remembered = {
  readonly firstAt: number;
  /** When it was last begun. */
  readonly begunAt: number;
  readonly request: string;
  /** From it the ids follow of all that the request creates, also when it is done again. */
  readonly seed: string;
  readonly answer: { readonly status: number; readonly body: string } | null;
};

export type Keyed = {
  /** Ids that are the same again if this request is done again. */
  readonly newId: (bucket?: number) => string;
  readonly remember: (answer: { status: number; body: string }) => Promise<void>;
  /** Nobody knows what came of it: whoever asks again does it again at once, with the same ids. */
  readonly release: () => Promise<void>;
};

/** Whether a request with this key came before: then its answer, otherwise leave to do it. */
export async function beginKeyed(
  engine: Engine,
  { key, endpoint, text }: { key: string; endpoint: string; text: string },
  { tenantId }: Pick<Caller, 'tenantId'>,
): Promise<Keyed | { readonly status: number; readonly body: string }> {
  if (!KEY.test(key)) {
    throw new PawlError('INVALID_REQUEST', {
      detail: 'Idempotency-Key takes 1 to 255 printable ASCII characters without spaces',
      details: { field: 'Idempotency-Key' },
    });
  }
  const ref: RecordRef = { kind: 'reply', tenantId, id: sha256(`${endpoint}\n${key}`) };
  const request = sha256(text);
  for (;;) {
    const now = engine.now();
    const { record } = await engine.store.record(ref);
    const known = record && (JSON.parse(record.body) as Remembered);
    const stands = known !== null && now - known.firstAt < REMEMBERED_MS;
    if (stands && known.request !== request) {
      throw new PawlError('IDEMPOTENCY_CONFLICT', { detail: `the Idempotency-Key '${key}' was used before` });
    }
    if (stands && known.answer) return known.answer;
    if (stands && now - known.begunAt < ABANDONED_MS) {
      throw new PawlError('IDEMPOTENCY_IN_PROGRESS', {
        detail: `the first request with the Idempotency-Key '${key}' is under way`,
      });
    }
    const version = (record?.version ?? 0) + 1;
    const first = stands ? known : { firstAt: now, seed: engine.newId(0) };
    const begun: Remembered = { ...first, begunAt: now, request, answer: null };
    const body = JSON.stringify(begun);
    if ((await engine.store.putRecord({ ...ref, version, body }, version - 1)).saved) {
      return keyed(engine, ref, { version, begun });
    }
  }
}

function keyed(
  engine: Engine,
  ref: RecordRef,
  { version, begun }: { version: number; begun: Remembered },
): Keyed {
  let drawn = 0;
  return {
    newId(bucket) {
      drawn += 1;
      const draw = drawnFrom(`${begun.seed}:${drawn}`);
      return newJobId({ now: begun.firstAt, bucket: bucket ?? draw(BUCKETS), draw });
    },
    async remember(answer) {
      const body = JSON.stringify({ ...begun, answer } satisfies Remembered);
      await engine.store.putRecord({ ...ref, version: version + 1, body }, version);
    },
    async release() {
      const body = JSON.stringify({ ...begun, begunAt: 0 } satisfies Remembered);
      await engine.store.putRecord({ ...ref, version: version + 1, body }, version);
    },
  };
}

/** Deletes what need not be remembered any more. */
export async function forgetOldAnswers(engine: Engine): Promise<void> {
  for (let after: { tenantId: string; id: string } | null = null; ;) {
    const { records, now } = await engine.store.records({
      kind: 'reply',
      tenantId: null,
      after,
      limit: PAGE,
    });
    for (const record of records) {
      const { firstAt } = JSON.parse(record.body) as Remembered;
      if (now - firstAt >= REMEMBERED_MS) await engine.store.deleteRecord(record);
    }
    const last = records.at(-1);
    if (last === undefined || records.length < PAGE) return;
    after = { tenantId: last.tenantId, id: last.id };
  }
}
