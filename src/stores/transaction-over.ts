import { PawlError } from '../errors.js';

/** What a transaction of the application fails with, and what was lent to it, once it has come to its end. */
export function transactionOver(): PawlError {
  return new PawlError('STALE_ATTEMPT', {
    detail: 'the transaction of this step is over, and nothing more is done in it',
  });
}
