import type { EvidenceRecord } from './evidence-record.js';

type Fields = Readonly<Record<string, unknown>>;

const isText = (value: unknown): boolean => typeof value === 'string';
const isTextOrNull = (value: unknown): boolean => value === null || isText(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value);
const isRecord = (value: unknown): boolean => typeof value === 'object' && value !== null;

/** What a line of each kind must have. What is inside an item or a row is compared later, as it is. */
const SHAPES: Readonly<
  Record<EvidenceRecord['kind'], Readonly<Record<string, (value: unknown) => boolean>>>
> = {
  evidence: { format: isCount },
  job: { jobId: isText },
  log: { rev: isCount, commandId: isText, body: isText, link: isText },
  effect: { step: isText, occurrence: isCount, entry: isCount, result: isTextOrNull },
  message: { key: isText, payload: isText, receivedAt: isCount },
  deadLetter: { item: isRecord },
  row: { row: isRecord },
  end: { jobs: isCount },
};

/** The record of a line; null if it is none. */
export function readRecord(text: string): EvidenceRecord | null {
  let fields: Fields;
  try {
    fields = JSON.parse(text) as Fields;
  } catch {
    return null;
  }
  const kind = fields['kind'];
  if (typeof kind !== 'string' || !Object.hasOwn(SHAPES, kind)) return null;
  const shape = Object.entries(SHAPES[kind as EvidenceRecord['kind']]);
  return shape.every(([field, fits]) => fits(fields[field])) ? (fields as EvidenceRecord) : null;
}
