export type Cut = {
  readonly text: string;
  /** How many characters were left out. */
  readonly left: number;
};

/** The beginning of a text: no more than so many lines and characters, and never half a character. */
export function cutText(text: string, { lines, characters }: { lines: number; characters: number }): Cut {
  let end = Math.min(text.length, characters);
  let at = -1;
  for (let line = 0; line < lines; line++) {
    at = text.indexOf('\n', at + 1);
    if (at === -1 || at >= end) break;
    if (line === lines - 1) end = at;
  }
  // The second half of a pair would show as a character that nobody wrote.
  if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end -= 1;
  return { text: text.slice(0, end), left: text.length - end };
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

/** JSON as people read it. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? 'undefined';
}
