import { hash } from 'node:crypto';
import type { Hash } from '../kernel/index.js';

/** The hash of the chain, of effect keys and of inputs. */
export const sha256: Hash = (text) => hash('sha256', text);
