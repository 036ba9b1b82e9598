import { renderDeep } from './template.js';

export type Variables = Readonly<Record<string, unknown>>;

/** A variable that needs itself, directly or by others: `a → b → a`. */
export class CyclicVariables extends Error {
  readonly cycle: readonly string[];
  constructor(cycle: readonly string[]) {
    super(`variables need each other: ${cycle.join(' → ')}`);
    this.cycle = cycle;
  }
}

/**
 * Variables in layers, of which later ones win: global, then the groups in their order, then the host. Their values may have
 * templates of other variables, whichever layer those come from. `values` win over all, and are what they are: what a host
 * has said is never read as a template.
 */
export function layered(layers: readonly Variables[], values: Variables = {}): (name: string) => unknown {
  const raw = new Map(layers.flatMap((layer) => Object.entries(layer)));
  const known = new Map(Object.entries(values));
  const under: string[] = [];
  return function lookup(name: string): unknown {
    if (known.has(name)) return known.get(name);
    if (!raw.has(name)) return undefined;
    if (under.includes(name)) throw new CyclicVariables([...under.slice(under.indexOf(name)), name]);
    under.push(name);
    try {
      const value = renderDeep(raw.get(name), lookup);
      known.set(name, value);
      return value;
    } finally {
      under.pop();
    }
  };
}
