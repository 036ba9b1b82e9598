/** An expression of `when` and of templates: read by this parser alone, never run as code. */
export type Expression =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'name'; readonly path: readonly string[] }
  | { readonly kind: 'not'; readonly of: Expression }
  | { readonly kind: 'defined'; readonly path: readonly string[] }
  | {
      readonly kind: 'binary';
      readonly operator: Operator;
      readonly left: Expression;
      readonly right: Expression;
    };

export type Operator = (typeof OPERATORS)[number][number];

/** What binds loosest comes first. */
const OPERATORS = [['or'], ['and'], ['==', '!=', '<=', '>=', '<', '>', 'in']] as const;
const COMPARISONS = 2;

const TOKEN =
  /\s*(?:(?<number>\d+(?:\.\d+)?)|(?<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?<word>[A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*)|(?<sign>==|!=|<=|>=|<|>|\(|\)))/y;

type Token = { readonly kind: 'number' | 'text' | 'word' | 'sign'; readonly text: string };

/** More than anyone writes by hand; deeper ones could only exhaust the stack. */
const DEEPEST = 50;

/** Throws an Error that says what is wrong. */
export function parseExpression(source: string): Expression {
  const parser = new Parser(tokensOf(source));
  const expression = parser.level(0, 0);
  parser.expectEnd();
  return expression;
}

/** The variables that an expression cannot do without: those that it reads, and does not ask after with `is defined`. */
export function namesIn(expression: Expression): string[] {
  const asked = new Set(
    partsOf(expression).flatMap((part) => (part.kind === 'defined' ? [part.path[0]] : [])),
  );
  const read = partsOf(expression).flatMap((part) => (part.kind === 'name' ? [part.path[0] ?? ''] : []));
  return read.filter((name) => !asked.has(name));
}

function partsOf(expression: Expression): Expression[] {
  if (expression.kind === 'not') return [expression, ...partsOf(expression.of)];
  if (expression.kind !== 'binary') return [expression];
  return [expression, ...partsOf(expression.left), ...partsOf(expression.right)];
}

class Parser {
  readonly #tokens: readonly Token[];
  #next = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  level(level: number, depth: number): Expression {
    if (depth > DEEPEST) throw new Error('it is nested too deeply');
    if (level === COMPARISONS + 1) return this.#operand(depth);
    if (level === COMPARISONS && this.#take('word', 'not')) {
      return { kind: 'not', of: this.level(level, depth + 1) };
    }
    let left = this.level(level + 1, depth);
    for (;;) {
      const operator = OPERATORS[level]?.find((sign) => this.#take('word', sign) || this.#take('sign', sign));
      if (operator === undefined) return left;
      const right = this.level(level + 1, depth);
      left = { kind: 'binary', operator, left, right };
      if (level === COMPARISONS) return left;
    }
  }

  expectEnd(): void {
    const left = this.#tokens[this.#next];
    if (left !== undefined) throw new Error(`'${left.text}' is one too many`);
  }

  #operand(depth: number): Expression {
    if (this.#take('sign', '(')) {
      const inner = this.level(0, depth + 1);
      if (!this.#take('sign', ')')) throw new Error("a ')' is missing");
      return inner;
    }
    const token = this.#tokens[this.#next];
    if (token === undefined) throw new Error('it ends where a value is expected');
    this.#next += 1;
    if (token.kind === 'number') return { kind: 'value', value: Number(token.text) };
    if (token.kind === 'text') return { kind: 'value', value: unquoted(token.text) };
    if (token.kind === 'word') return this.#word(token.text);
    throw new Error(`'${token.text}' stands where a value is expected`);
  }

  #word(word: string): Expression {
    if (word in WORDS) return { kind: 'value', value: WORDS[word] };
    if (RESERVED.has(word)) throw new Error(`'${word}' stands where a value is expected`);
    const path = word.split('.');
    if (!this.#take('word', 'is')) return { kind: 'name', path };
    const negated = this.#take('word', 'not');
    if (!this.#take('word', 'defined')) throw new Error("after 'is' comes 'defined' or 'not defined'");
    const defined: Expression = { kind: 'defined', path };
    return negated ? { kind: 'not', of: defined } : defined;
  }

  #take(kind: Token['kind'], text: string): boolean {
    const token = this.#tokens[this.#next];
    if (token?.kind !== kind || token.text !== text) return false;
    this.#next += 1;
    return true;
  }
}

const WORDS: Readonly<Record<string, unknown>> = { __proto__: null, true: true, false: false, null: null };
const RESERVED = new Set(['and', 'or', 'not', 'in', 'is', 'defined']);

function tokensOf(source: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  for (let at = 0; source.slice(at).trim() !== ''; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at;
    const groups = TOKEN.exec(source)?.groups;
    const found = Object.entries(groups ?? {}).find(([, text]) => text !== undefined);
    if (found === undefined) throw new Error(`'${source.slice(at).trim().slice(0, 20)}' cannot be read`);
    tokens.push({ kind: found[0] as Token['kind'], text: found[1] ?? '' });
  }
  if (tokens.length === 0) throw new Error('it is empty');
  return tokens;
}

function unquoted(text: string): string {
  return text.slice(1, -1).replace(/\\(.)/g, (_all, letter: string) => ESCAPES[letter] ?? letter);
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t' };
