/** Where the environment may name the store. The first that does counts. */
export const STORE_VARIABLES = ['PAWL_STORE', 'DATABASE_URL'] as const;

/** An empty variable is one that is not set. */
export function present(value: string | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : value;
}
