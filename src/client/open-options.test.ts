import { expect, test } from 'vitest';
import { pawl } from './pawl.js';

test.each([undefined, null, 7])('a store that is %s is said to be missing', async (store) => {
  const opening = pawl({ store: store as never });
  await expect(opening).rejects.toMatchObject({ code: 'STORE_URL_INVALID' });
  await expect(opening).rejects.toThrow(`the store is missing: it is ${String(store)}`);
});
