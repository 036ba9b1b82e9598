import { createHash } from 'node:crypto';
import type { Hash } from '../kernel/index.js';

/** The hash of the chain, of effect keys and of inputs. */
export const sha256: Hash = (text) => createHash('sha256').update(text).digest('hex');
