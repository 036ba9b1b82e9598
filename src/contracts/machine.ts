/** One edge of a contract's own state machine. `from` null is creation. */
export type Edge<S extends string> = {
  readonly from: S | null;
  readonly to: S;
  /** The source's word for what causes it, where it has one. */
  readonly trigger?: string;
  /** An edge that the source lacks and that the engine needs. */
  readonly added?: true;
};

export type Machine<S extends string> = { readonly states: readonly S[]; readonly edges: readonly Edge<S>[] };

/** A step of a walk is legal if it is an edge, or no step at all. */
export function isLegal<S extends string>(machine: Machine<S>, from: S | null, to: S): boolean {
  return from === to || machine.edges.some((edge) => edge.from === from && edge.to === to);
}
