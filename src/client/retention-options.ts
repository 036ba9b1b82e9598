import type { EvidenceSink } from '../engine/evidence/evidence-sink.js';
import * as is from '../engine/option-checks.js';
import { invalidOption, Options } from '../engine/options.js';
import type { Retention } from '../engine/retention.js';
import { STATUSES } from '../kernel/index.js';
import { evidenceFolder } from './evidence-folder.js';

/** `evidence`: a folder, or a function of one's own. */
export type RetentionOptions = Omit<Retention, 'evidence'> & { readonly evidence?: string | EvidenceSink };

const RETENTION = new Options<RetentionOptions>({
  keep: is.required(is.duration),
  rules: is.elsewhere,
  keepKeys: is.duration,
  evidence: is.elsewhere,
});
const RULE = new Options<NonNullable<Retention['rules']>[number]>({
  task: is.text,
  status: is.oneOf(...STATUSES),
  keep: is.required(is.duration),
});

export function retentionOf(options: RetentionOptions): Retention {
  RETENTION.expect(options, 'pawl()', 'retention.');
  const { evidence, ...retention } = options;
  expectRules(retention.rules ?? []);
  if (evidence === undefined) return retention;
  if (typeof evidence === 'function') return { ...retention, evidence };
  if (typeof evidence === 'string' && evidence !== '')
    return { ...retention, evidence: evidenceFolder(evidence) };
  throw invalidOption(
    'retention.evidence',
    'retention.evidence is neither the path of a folder nor a function',
  );
}

function expectRules(rules: NonNullable<Retention['rules']>): void {
  if (!Array.isArray(rules)) throw invalidOption('retention.rules', 'retention.rules is no list of rules');
  rules.forEach((rule, index) => RULE.expect(rule, 'pawl()', `retention.rules[${index}].`));
}
