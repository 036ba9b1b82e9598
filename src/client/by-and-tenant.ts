import * as is from '../engine/option-checks.js';
import { Options } from '../engine/options.js';

/** Who did it, for the record. */
export type By = { readonly by: string };
/** The default tenant, unless it is said. */
export type InTenant = { readonly tenantId?: string };
/** Everybody, unless it is said. */
export type OfTenant = { readonly tenantId?: string | null };

/** Blanks are no name. */
const name: is.Check = (value) =>
  typeof value === 'string' && value.trim() === '' ? 'no name' : is.text(value);

export const by = is.required(name);
export const BY = new Options<By>({ by });
export const IN_TENANT = new Options<InTenant>({ tenantId: is.text });
export const OF_TENANT = new Options<OfTenant>({ tenantId: is.orNull(is.text) });
