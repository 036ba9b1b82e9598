import { withoutPassword } from '../client/without-password.js';
import { flagOf } from './shell.js';

/** What a shell hands over as it stands. */
const PLAIN = /^[\w@%+=:,./-]+$/;

/** A word as a shell takes it for one. */
function quoted(word: string): string {
  return PLAIN.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/**
 * A command line that somebody is to type next: without the addresses and files that this one was given, it would work on
 * something else. Passwords are not shown, so one who has given one is told to put it in.
 */
export function commandLine(
  words: readonly string[],
  given: Readonly<Record<string, string | undefined>>,
): string {
  let isHidden = false;
  const options = Object.entries(given).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const shown = withoutPassword(value);
    isHidden ||= shown !== value;
    return [flagOf(name), shown];
  });
  const line = [...words, ...options].map(quoted).join(' ');
  return isHidden ? `${line} (with the password in the place of ***)` : line;
}
