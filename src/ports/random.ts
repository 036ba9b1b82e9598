/** Chance. Everything drawn passes through here, so that a run can be repeated from its seed. */
export interface Random {
  /** A whole number from 0 up to, not including, `below` (at most 2^32). */
  int(below: number): number;
}
