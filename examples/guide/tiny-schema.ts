import type { StandardSchema } from '../../src/index.js';

type Field<T> = { readonly expects: string; readonly fits: (value: unknown) => value is T };

export const text: Field<string> = {
  expects: 'a text',
  fits: (value): value is string => typeof value === 'string',
};
export const integer: Field<number> = {
  expects: 'a whole number',
  fits: (value): value is number => Number.isInteger(value),
};

/** A Standard Schema in a few lines: what Zod, Valibot or ArkType do for real. */
export function object<T>(fields: { readonly [K in keyof T]: Field<T[K]> }): StandardSchema<T> {
  return {
    '~standard': {
      version: 1,
      vendor: 'tiny-schema',
      validate(value) {
        const given = (value ?? {}) as Record<string, unknown>;
        const issues = Object.entries<Field<unknown>>(fields)
          .filter(([name, field]) => !field.fits(given[name]))
          .map(([name, field]) => ({ path: [name], message: `expected ${field.expects}` }));
        return issues.length > 0 ? { issues } : { value: given as T };
      },
    },
  };
}
