import type { Matrix } from './outcome.js';

export function reportOf(_: {
  readonly matrices: readonly Matrix[];
  readonly at: number;
  readonly versions: { readonly pawl: string; readonly node: string };
}): string {
  return '';
}
