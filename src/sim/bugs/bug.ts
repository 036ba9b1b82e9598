/** A rule of the protocol, broken in one place of a compiled copy. `from` stands exactly once in the file. */
export type Bug = {
  readonly name: string;
  /** Below `src`, without an ending. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
};
