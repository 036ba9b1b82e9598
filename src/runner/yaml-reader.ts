import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, type Document, type Node } from 'yaml';
import { PawlError } from '../index.js';
import { nearest } from './nearest.js';

export type Problem = { readonly line: number; readonly column: number; readonly message: string };

/** Members of a map by name, each with where its name stands. */
export type Members = ReadonlyMap<string, { readonly key: Node; readonly value: Node | null }>;

/** A workflow has to fit into the input of a job. */
const MOST_BYTES = 900_000;

/** A YAML file that is read piece by piece. What is wrong is noted with its place, and reading goes on. */
export class YamlReader {
  readonly problems: Problem[] = [];
  readonly root: Node | null;
  readonly #document: Document;
  readonly #lines = new LineCounter();

  constructor(text: string) {
    const isTooLong = Buffer.byteLength(text) > MOST_BYTES;
    this.#document = parseDocument(isTooLong ? '' : text, { lineCounter: this.#lines, prettyErrors: false });
    this.root = this.#document.contents;
    if (isTooLong) this.#note(0, `the file is longer than ${MOST_BYTES} bytes`);
    for (const { pos, message } of [...this.#document.errors, ...this.#document.warnings]) {
      this.#note(pos[0], message);
    }
  }

  report(node: Node | null, message: string): void {
    this.#note(node?.range?.[0] ?? 0, message);
  }

  /** The members of a map; unknown ones, and those that are missing, are noted. Null: it is no map. */
  map(
    node: Node | null,
    what: string,
    { known, required = [] }: { known: readonly string[] | null; required?: readonly string[] },
  ): Members | null {
    const map = this.#resolved(node);
    if (!isMap(map)) {
      this.report(node, `${what} is no map`);
      return null;
    }
    const members = new Map<string, { key: Node; value: Node | null }>();
    for (const { key, value } of map.items) {
      const name = isScalar(key) ? String(key.value) : null;
      if (name === null) this.report(key as Node, `a name in ${what} is no text`);
      else if (known && !known.includes(name)) {
        this.report(key as Node, `${what} knows no '${name}'${nearest(name, known)}`);
      } else members.set(name, { key: key as Node, value: value as Node | null });
    }
    for (const name of required) if (!members.has(name)) this.report(node, `${what} needs '${name}'`);
    return members;
  }

  list(node: Node | null, what: string): (Node | null)[] {
    const list = this.#resolved(node);
    if (isSeq(list)) return list.items as (Node | null)[];
    this.report(node, `${what} is no list`);
    return [];
  }

  /** A text that is not empty. Numbers are texts too, where a text is wanted. */
  text(node: Node | null, what: string): string | null {
    const scalar = this.#resolved(node);
    const value = isScalar(scalar) ? scalar.value : null;
    if (typeof value === 'number') return String(value);
    if (typeof value === 'string' && value !== '') return value;
    this.report(node, `${what} is no text`);
    return null;
  }

  texts(node: Node | null, what: string): string[] {
    return this.list(node, what)
      .map((one) => this.text(one, `a member of ${what}`))
      .filter((one) => one !== null);
  }

  integer(node: Node | null, what: string, { least, most }: { least: number; most: number }): number | null {
    const value = this.plain(node);
    if (Number.isInteger(value) && Number(value) >= least && Number(value) <= most) return Number(value);
    this.report(node, `${what} is no whole number from ${least} to ${most}`);
    return null;
  }

  flag(node: Node | null, what: string): boolean {
    const value = this.plain(node);
    if (typeof value !== 'boolean') this.report(node, `${what} is neither true nor false`);
    return value === true;
  }

  /** A text or a number as it stands in the file, before YAML makes anything of it. */
  written(node: Node | null): string {
    const scalar = this.#resolved(node);
    return isScalar(scalar) ? (scalar.source ?? String(scalar.value)) : '';
  }

  /** The value as data, whatever it is. */
  plain(node: Node | null): unknown {
    try {
      return node === null ? null : (node.toJS(this.#document, { maxAliasCount: 100 }) as unknown);
    } catch (error) {
      this.report(node, error instanceof Error ? error.message : String(error));
      return null;
    }
  }

  /** Throws WORKFLOW_INVALID with everything that was noted, each with its place; or does nothing. */
  expectNoProblems(file: string): void {
    if (this.problems.length === 0) return;
    const problems = this.problems.toSorted((a, b) => a.line - b.line || a.column - b.column);
    const lines = problems.map(({ line, column, message }) => `${file}:${line}:${column}: ${message}`);
    throw new PawlError('WORKFLOW_INVALID', { detail: lines.join('\n'), details: { file, problems } });
  }

  #resolved(node: Node | null): Node | null {
    return isAlias(node) ? (node.resolve(this.#document) ?? null) : node;
  }

  #note(offset: number, message: string): void {
    const { line, col } = this.#lines.linePos(offset);
    this.problems.push({ line: Math.max(1, line), column: Math.max(1, col), message });
  }
}
