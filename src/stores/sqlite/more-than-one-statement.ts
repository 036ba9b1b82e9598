/** What a text of SQL is made of, so far as it matters to where its statements end. A quote within quotes is two tokens of one string. */
const TOKENS =
  /(?<comment>--[^\n]*|\/\*[^]*?(?:\*\/|$))|'[^']*'?|"[^"]*"?|`[^`]*`?|\[[^\]]*\]?|[\w$\u0080-\uffff]+|[^\s]/g;

/** How the one kind of statement begins that has others within it, each with a semicolon of its own. */
const TRIGGER = /^(?:EXPLAIN (?:QUERY PLAN )?)?CREATE (?:TEMP |TEMPORARY )?TRIGGER$/;
const LONGEST_BEGINNING = 6;

/**
 * Whether there is a second statement in a text, which SQLite would leave out without a word. Comments and semicolons may
 * follow the first.
 */
export function hasMoreThanOneStatement(sql: string): boolean {
  let statements = 0;
  /** The first words of the statement; empty between two. */
  let beginning: string[] = [];
  let isTrigger = false;
  let [last, lastButOne] = ['', ''];
  for (const { 0: text, groups } of sql.matchAll(TOKENS)) {
    if (groups?.['comment'] !== undefined) continue;
    const token = text.toUpperCase();
    if (token !== ';') {
      if (beginning.length === 0) statements += 1;
      if (statements > 1) return true;
      if (beginning.length < LONGEST_BEGINNING) {
        beginning.push(token);
        isTrigger ||= TRIGGER.test(beginning.join(' '));
      }
    } else if (!isTrigger || (last === 'END' && lastButOne === ';')) {
      beginning = [];
    }
    [last, lastButOne] = [token, last];
  }
  return false;
}
