import type { Check } from '../engine/option-checks.js';

/**
 * The part of the Standard Schema interface that Pawl uses. Schemas of Zod, Valibot, ArkType and others have it, so any
 * of them can describe the input of a task.
 */
export interface StandardSchema<I = unknown, O = I> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<O> | Promise<SchemaResult<O>>;
    readonly types?: { readonly input: I; readonly output: O } | undefined;
  };
}

export type SchemaResult<O> =
  | { readonly value: O; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

export type SchemaIssue = {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
};

/** As an option of a task: some libraries' schemas are functions. */
export const schema: Check = (value) =>
  value === undefined || hasValidate(value) ? null : 'no schema: none of Zod, Valibot, ArkType or the like';

function hasValidate(value: unknown): boolean {
  return typeof (value as Partial<StandardSchema> | null)?.['~standard']?.validate === 'function';
}
