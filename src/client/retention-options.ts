import { PawlError } from '../errors.js';
import type { EvidenceSink } from '../engine/evidence/evidence-sink.js';
import type { Retention } from '../engine/retention.js';
import { evidenceFolder } from './evidence-folder.js';

/** `evidence`: a folder, or a function of one's own. */
export type RetentionOptions = Omit<Retention, 'evidence'> & { readonly evidence?: string | EvidenceSink };

export function retentionOf({ evidence, ...retention }: RetentionOptions): Retention {
  if (evidence === undefined) return retention;
  if (typeof evidence === 'function') return { ...retention, evidence };
  if (typeof evidence === 'string' && evidence !== '')
    return { ...retention, evidence: evidenceFolder(evidence) };
  throw new PawlError('INVALID_OPTION', {
    detail: 'retention.evidence is neither the path of a folder nor a function',
    details: { option: 'retention.evidence' },
  });
}
