import { evaluate, type Lookup } from './evaluate.js';
import { namesIn, parseExpression, type Expression } from './expression.js';

type Part = string | Expression;

/** A text with `{{ expressions }}` in it. */
export type Template = readonly Part[];

const HOLE = /\{\{(.*?)\}\}/gs;

/** Throws an Error that says what is wrong. */
export function parseTemplate(text: string): Template {
  const parts: Part[] = [];
  let from = 0;
  for (const match of text.matchAll(HOLE)) {
    if (match.index > from) parts.push(text.slice(from, match.index));
    parts.push(parseExpression(match[1] ?? ''));
    from = match.index + match[0].length;
  }
  if (from < text.length) parts.push(text.slice(from));
  if (parts.some((part) => typeof part === 'string' && part.includes('{{'))) {
    throw new Error("a '{{' has no '}}'");
  }
  return parts;
}

/** The text with its values filled in. A template that is one expression and nothing else keeps the value's type. */
export function renderTemplate(template: Template, lookup: Lookup): unknown {
  const [first] = template;
  if (template.length === 1 && typeof first === 'object') return evaluate(first, lookup);
  return template.map((part) => (typeof part === 'string' ? part : textOf(evaluate(part, lookup)))).join('');
}

/** Fills in every text within a value, however deep. */
export function renderDeep(value: unknown, lookup: Lookup): unknown {
  if (typeof value === 'string') return renderTemplate(parseTemplate(value), lookup);
  if (Array.isArray(value)) return value.map((one) => renderDeep(one, lookup));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, renderDeep(member, lookup)]),
  );
}

/** The variables that the texts within a value read. Throws like `parseTemplate`. */
export function namesWithin(value: unknown): string[] {
  if (typeof value === 'string') {
    return parseTemplate(value).flatMap((part) => (typeof part === 'string' ? [] : namesIn(part)));
  }
  if (value === null || typeof value !== 'object') return [];
  return Object.values(value).flatMap(namesWithin);
}

/** A value within a text. Lists and maps are written as JSON. */
export function textOf(value: unknown): string {
  return value !== null && typeof value === 'object' ? JSON.stringify(value) : String(value);
}
