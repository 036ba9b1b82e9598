import { ERRORS, PawlError } from '../errors.js';
import type { Rejected } from '../kernel/index.js';
import { ruleOf } from './spec-rules.js';

/** The kernel's no, for a caller who asked for something that cannot be. `asked` says what, as in "cancel job 17". */
export function rejectionError({ code, details }: Rejected, asked: string): PawlError {
  if (code === 'INVALID_COMMAND' && typeof details.field === 'string') {
    const problem = details.problem ?? ruleOf(details.field) ?? 'is not valid';
    return new PawlError('INVALID_OPTION', {
      detail: `cannot ${asked}: ${details.field.replace(/^spec\./, '')} ${String(problem)}`,
      details,
    });
  }
  const facts = Object.entries(details).map(([name, value]) => `${name}: ${String(value)}`);
  const meaning = ERRORS[code].meaning.replace(/\.$/, '');
  const because = facts.length > 0 ? ` (${facts.join(', ')})` : '';
  return new PawlError(code, { detail: `cannot ${asked}: ${meaning}${because}`, details });
}
