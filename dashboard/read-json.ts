export type ReadJson = { readonly value: unknown; readonly problem: string | null };

/** JSON that somebody types. Nothing at all is null. */
export function readJson(text: string): ReadJson {
  if (text.trim() === '') return { value: null, problem: null };
  try {
    return { value: JSON.parse(text), problem: null };
  } catch (error) {
    return { value: null, problem: error instanceof Error ? error.message : 'it cannot be read' };
  }
}
