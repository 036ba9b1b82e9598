import { oneLine } from './console.js';

/** Colours, cursor moves and titles of terminals, which programs on hosts write for people. */
const SEQUENCE =
  /\u001b(?:\[[0-9;:?<=>]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[()*+][0-9A-Za-z]|[@-Z\\-_=>78])/g;

/** What a host said, as one line that cannot do anything to the terminal. */
export function plainText(text: string): string {
  return oneLine(text.replaceAll(SEQUENCE, ''));
}
