import type { Expression, Operator } from './expression.js';

/** Looks a variable up. `undefined`: there is none of this name. */
export type Lookup = (name: string) => unknown;

/** The value of an expression. Throws an Error for a variable that is not there, and for what cannot be compared. */
export function evaluate(expression: Expression, lookup: Lookup): unknown {
  switch (expression.kind) {
    case 'value':
      return expression.value;
    case 'name': {
      const value = at(expression.path, lookup);
      if (value === undefined) throw new Error(`there is no variable '${expression.path.join('.')}'`);
      return value;
    }
    case 'defined':
      return at(expression.path, lookup) !== undefined;
    case 'not':
      return !isTrue(evaluate(expression.of, lookup));
    case 'binary': {
      const left = evaluate(expression.left, lookup);
      if (expression.operator === 'and' && !isTrue(left)) return false;
      if (expression.operator === 'or' && isTrue(left)) return true;
      return compare(expression.operator, left, evaluate(expression.right, lookup));
    }
  }
}

/** Null, false, 0 and what is empty are not true; neither are the words that a file or a host says no with. */
export function isTrue(value: unknown): boolean {
  if (typeof value === 'string') return !['', 'false', 'no', '0'].includes(value.toLowerCase());
  if (Array.isArray(value)) return value.length > 0;
  return Boolean(value);
}

/** Own members that are data: neither what every object has, nor the length of a list. */
function isMember(value: object, name: string): boolean {
  return Object.prototype.propertyIsEnumerable.call(value, name);
}

function at([first = '', ...rest]: readonly string[], lookup: Lookup): unknown {
  let value = lookup(first);
  for (const name of rest) {
    if (value === null || typeof value !== 'object' || !isMember(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}

function compare(operator: Operator, left: unknown, right: unknown): boolean {
  switch (operator) {
    case 'and':
    case 'or':
      return isTrue(right);
    case '==':
      return isSame(left, right);
    case '!=':
      return !isSame(left, right);
    case 'in':
      if (typeof right === 'string') return right.includes(String(left));
      if (Array.isArray(right)) return right.some((one) => isSame(left, one));
      throw new Error("what stands after 'in' is neither a list nor a text");
    default:
      return inOrder(operator, left, right);
  }
}

function inOrder(operator: '<' | '<=' | '>' | '>=', left: unknown, right: unknown): boolean {
  const [a, b] = [Number(left), Number(right)];
  const isNumber = [left, right].every((one) => ['string', 'number'].includes(typeof one) && one !== '');
  if (!isNumber || Number.isNaN(a) || Number.isNaN(b)) {
    throw new Error(
      `${JSON.stringify(left)} ${operator} ${JSON.stringify(right)} compares what is no number`,
    );
  }
  if (operator === '<') return a < b;
  if (operator === '<=') return a <= b;
  return operator === '>' ? a > b : a >= b;
}

/** What a host says is text: `'3'` from its output equals 3 in the file. */
function isSame(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  const isPlain = (one: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof one);
  if (isPlain(left) && isPlain(right)) return String(left) === String(right);
  return JSON.stringify(left) === JSON.stringify(right);
}
