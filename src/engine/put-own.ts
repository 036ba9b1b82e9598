import type { DlqItem } from '../kernel/index.js';
import type { StoredRecord } from '../ports/store.js';
import type { Engine } from './engine.js';

/**
 * Writes what nobody else would write just so. False: somebody else was faster. A store whose answer was lost is asked again, and then says
 * that it was overtaken, by what it had saved before: so what is there is looked at.
 */
export async function putOwnRecord(
  { store }: Pick<Engine, 'store'>,
  record: StoredRecord,
  expected: number,
): Promise<boolean> {
  if ((await store.putRecord(record, expected)).saved) return true;
  return (await store.record(record)).record?.body === record.body;
}

/** The same for a dead letter. */
export async function putOwnDlqItem({ store }: Pick<Engine, 'store'>, item: DlqItem): Promise<boolean> {
  if ((await store.putDlqItem(item)).saved) return true;
  return JSON.stringify((await store.dlqItem(item.dlqId)).item) === JSON.stringify(item);
}
